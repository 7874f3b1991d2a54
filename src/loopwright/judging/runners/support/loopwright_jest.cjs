// A reporter for jest that writes each result with its file.
'use strict';
const { openSession } = require('./loopwright_session.cjs');

const STATUS = { passed: 'passed', failed: 'failed' };

module.exports = class {
  constructor(globalConfig) {
    this.root = globalConfig.rootDir;
  }

  onRunStart() {
    let version = '';
    try {
      version = require(require.resolve('jest/package.json', { paths: [this.root] })).version;
    } catch {
      // The report names jest without its version.
    }
    this.session = openSession('jest', version, this.root);
  }

  onTestResult(test, result) {
    if (!this.session) return;
    const file = test.path;
    if (result.testExecError || (result.failureMessage && !result.testResults.length)) {
      const trace = result.failureMessage || String(result.testExecError);
      this.session.add({ file, group: '', name: '', status: 'failed', message: "can't be loaded", trace });
    }
    for (const one of result.testResults) {
      const trace = (one.failureMessages || []).join('\n');
      const message = trace.split('\n', 1)[0];
      const place = { file, group: one.ancestorTitles.join(' > '), name: one.title };
      this.session.add({ ...place, status: STATUS[one.status] || 'skipped', ms: one.duration, message, trace });
    }
  }

  onRunComplete(_, results) {
    if (this.session) this.session.end(results.wasInterrupted || results.numTotalTestSuites > ran(results) ? 'stopped' : '');
  }
};

function ran(results) {
  return results.testResults.length;
}

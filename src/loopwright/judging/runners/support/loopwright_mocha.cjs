// Listens to mocha's runner, whatever reporter prints.
'use strict';
const { openSession, thrown } = require('./loopwright_session.cjs');

const known = new WeakSet();

module.exports = function attach(Runner) {
  if (known.has(Runner)) return;
  known.add(Runner);
  const run = Runner.prototype.run;
  Runner.prototype.run = function (...args) {
    const session = isMocha(this) ? openSession('mocha', version(), process.cwd()) : null;
    if (session) {
      goOn(this.suite);
      listen(this, session);
    }
    return run.apply(this, args);
  };
};

// With bail, the tests after the first failure have no result that could be compared.
function goOn(suite) {
  if (typeof suite.bail === 'function') suite.bail(false);
  for (const inner of suite.suites || []) goOn(inner);
}

function isMocha(runner) {
  return typeof runner.on === 'function' && typeof runner.total === 'number' && 'suite' in runner;
}

function version() {
  try {
    return require(require.resolve('mocha/package.json', { paths: [process.argv[1], process.cwd()] })).version;
  } catch {
    return '';
  }
}

function listen(runner, session) {
  const add = (test, status, error) => {
    const titles = test.titlePath();
    const place = { file: test.file, group: titles.slice(0, -1).join(' > '), name: titles[titles.length - 1] };
    session.add({ ...place, status, ms: test.duration, ...thrown(error) });
  };
  runner.on('pass', (test) => add(test, 'passed'));
  runner.on('pending', (test) => add(test, 'skipped'));
  runner.on('fail', (test, error) => add(test, 'failed', error));
  runner.on('end', () => {
    session.end(runner._abort ? 'stopped after a failure' : '');
  });
}

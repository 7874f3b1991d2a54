// Writes the results of one test session as NDJSON: a start line, a line per test, the changed state, an end line.
// Runs inside the user's test programs and never fails there. The folder for the reports is removed from the environment
// during a session: runners that a test starts are part of that test and report nothing.
'use strict';
const fs = require('fs');
const path = require('path');
const stateChanges = require('./loopwright_state.cjs');

const FOLDER = 'LOOPWRIGHT_REPORTS';
const LONGEST_TEXT = 20000;
// The others run tests in processes or contexts of their own, whose state is not known.
const RUNS_TESTS_HERE = new Set(['node', 'mocha']);
const COLOURS = new RegExp('\\u001b\\[[0-?]*[ -/]*[@-~]', 'g');

class Session {
  constructor(folder, runner, version, root) {
    this.folder = folder;
    this.runner = runner;
    this.path = path.join(folder, `${runner}-${process.pid}-${process.hrtime.bigint()}.ndjson`);
    this.write({ kind: 'start', runner, version, root });
  }

  add(test) {
    const message = text(test.message).slice(0, LONGEST_TEXT);
    const trace = text(test.trace).slice(-LONGEST_TEXT);
    const { file, group, name, status } = test;
    this.write({ kind: 'test', file: file || '', group, name, status, ms: Number(test.ms) || 0, message, trace });
  }

  end(early) {
    const changed = RUNS_TESTS_HERE.has(this.runner) ? stateChanges() : null;
    if (changed !== null) this.write({ kind: 'state', changed });
    this.write({ kind: 'end', early });
    process.env[FOLDER] = this.folder;
  }

  write(line) {
    try {
      fs.appendFileSync(this.path, JSON.stringify(line) + '\n', { mode: 0o600 });
    } catch {
      // Then the end line is missing as well, and the reader notices that.
    }
  }
}

function text(value) {
  return value === undefined || value === null ? '' : String(value).replace(COLOURS, '');
}

// The message and the trace of whatever was thrown.
function thrown(error) {
  const cause = error && error.cause && error.cause.message !== undefined ? error.cause : error;
  if (cause === undefined || cause === null) return { message: '', trace: '' };
  return { message: text(cause.message !== undefined ? cause.message : cause), trace: text(cause.stack) };
}

// A session, if reports are requested and this process is not part of another session's test.
function openSession(runner, version, root) {
  const folder = process.env[FOLDER];
  if (!folder) return null;
  // The processes of test files report their state.
  if (!process.execArgv.includes('--test')) delete process.env[FOLDER];
  return new Session(folder, runner, version, root);
}

// Reports the state of a process in which `node --test` runs a file, when it ends.
function reportStateAtExit() {
  const folder = process.env[FOLDER];
  delete process.env[FOLDER];
  process.once('exit', () => new Session(folder, 'node', process.versions.node, process.cwd()).end(''));
}

module.exports = { openSession, reportStateAtExit, thrown };

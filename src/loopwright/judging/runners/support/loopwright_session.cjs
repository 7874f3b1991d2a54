// Writes the results of one test session as NDJSON: a start line, a line per test, the changed state, an end line.
// Runs inside the user's test programs and never fails there. The folder for the reports is removed from the environment
// during a session: runners that a test starts are part of that test and report nothing.
'use strict';
const { closeSync, openSync, writeSync } = require('fs');
const stateChanges = require('./loopwright_state.cjs');
// The product may replace what writes the report. These functions use no others that it can replace.
const { stringify } = JSON;
const { ownKeys } = Reflect;
const { isArray } = Array;
const toText = String;
const toNumber = Number;
const variables = process.env;

const FOLDER = 'LOOPWRIGHT_REPORTS';
const LONGEST_TEXT = 20000;
// The others run tests in processes or contexts of their own, whose state is not known.
const RUNS_TESTS_HERE = { __proto__: null, node: true, mocha: true };
const COLOURS = new RegExp('\\u001b\\[[0-?]*[ -/]*[@-~]', 'g');

class Session {
  // `hasTests`: whether the session reports results, and not only the state of its process.
  constructor(folder, runner, version, root, hasTests = true) {
    this.folder = folder;
    this.runner = runner;
    this.lostALine = false;
    this.path = `${folder}/${runner}-${process.pid}-${process.hrtime.bigint()}.ndjson`;
    this.write({ kind: 'start', runner, version, root, has_tests: hasTests });
  }

  add(test) {
    const message = text(test.message, (value) => value.slice(0, LONGEST_TEXT));
    const trace = text(test.trace, (value) => value.slice(-LONGEST_TEXT));
    const { file, group, name, status } = test;
    this.write({ kind: 'test', file: file || '', group, name, status, ms: toNumber(test.ms) || 0, message, trace });
  }

  end(early) {
    if (RUNS_TESTS_HERE[this.runner]) this.write({ kind: 'state', changed: stateChanges() });
    this.write({ kind: 'end', early });
    variables[FOLDER] = this.folder;
  }

  // A report that lost a line has no end line, and the reader notices that.
  write(line) {
    if (this.lostALine) return;
    try {
      const file = openSync(this.path, 'a', 0o600);
      try {
        writeSync(file, `${encoded(line)}\n`);
      } finally {
        closeSync(file);
      }
    } catch {
      this.lostALine = true;
    }
  }
}

// JSON of texts, numbers, lists and plain objects. The product's `toJSON` is asked for objects only.
function encoded(value) {
  if (typeof value === 'number' || typeof value === 'boolean') return stringify(value);
  if (typeof value !== 'object' || value === null) return stringify(toText(value));
  const isList = isArray(value);
  let parts = '';
  const keys = ownKeys(value);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index];
    if (isList && key === 'length') continue;
    parts += `${parts && ','}${isList ? '' : `${stringify(key)}:`}${encoded(value[key])}`;
  }
  return isList ? `[${parts}]` : `{${parts}}`;
}

// A text as it is shown. The product may break what makes it: a result never depends on its text.
function text(value, part = (whole) => whole) {
  try {
    return value === undefined || value === null ? '' : part(toText(value).replace(COLOURS, ''));
  } catch {
    return '';
  }
}

// The message and the trace of whatever was thrown.
function thrown(error) {
  const cause = error && error.cause && error.cause.message !== undefined ? error.cause : error;
  if (cause === undefined || cause === null) return { message: '', trace: '' };
  return { message: text(cause.message !== undefined ? cause.message : cause), trace: text(cause.stack) };
}

// A session, if reports are requested and this process is not part of another session's test.
function openSession(runner, version, root) {
  const folder = variables[FOLDER];
  if (!folder) return null;
  // The processes of test files report their state.
  if (!process.execArgv.includes('--test')) delete variables[FOLDER];
  return new Session(folder, runner, version, root);
}

// Reports the state of a process in which `node --test` runs a file, when it ends. A process that is killed, or hears
// nothing of its end, leaves a report without its state.
function reportStateAtExit() {
  const folder = variables[FOLDER];
  delete variables[FOLDER];
  const session = new Session(folder, 'node', process.versions.node, process.cwd(), false);
  process.once('exit', () => session.end(''));
}

module.exports = { openSession, reportStateAtExit, thrown };

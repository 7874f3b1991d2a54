// Tries assertions with changed expectations, in place of the right ones: one that can fail hides no other.
// The body of a function that probed test files hold as text, after the constants `file`, `records`, `soft` (tests that
// failed and go on) and `branches` (lines that right work may leave out).
const load = process.getBuiltinModule;
const SIGNS = {
  '<': [(a, b) => a < b, (a, b) => a >= b],
  '<=': [(a, b) => a <= b, (a, b) => a > b],
  '>': [(a, b) => a > b, (a, b) => a <= b],
  '>=': [(a, b) => a >= b, (a, b) => a < b],
};
let isUndecided = false;

// A comparison of a guard. If its opposite is false, too, as with NaN, the guard can't fail.
function compare(sign, left, right) {
  const [holds, isOpposite] = SIGNS[sign];
  const value = holds(left, right);
  isUndecided = isUndecided || (!value && !isOpposite(left, right));
  return value;
}

function takeUndecided() {
  const taken = isUndecided;
  isUndecided = false;
  return taken;
}

// The changed conditions. A condition that can't fail stays false.
const changed = {
  guard: (value) => !takeUndecided() && !value,
  branch: () => false,
  reach: () => Symbol('changed'),
};

// Without it nothing is recorded, and a changed assertion fails its test.
if (!load) {
  return {
    compare,
    guard: (key, isAssertion, value) => changed.guard(value),
    branch: changed.branch,
    reach: changed.reach,
    probe: (key, assertion) => assertion(),
    test: (name, body) => body,
  };
}
const fs = load('node:fs');
const path = load('node:path');
const { AsyncLocalStorage } = load('node:async_hooks');
const running = new AsyncLocalStorage();
const written = new Set();
// A test in a loop tells no more after so many rounds.
const MOST_ROUNDS = 50;
const rounds = new Map();
let top = process.cwd();
while (!fs.existsSync(path.join(top, file)) && top !== path.dirname(top)) top = path.dirname(top);
const own = path.join(top, file);

function record(key, test, outcome) {
  const line = JSON.stringify([key, test, outcome]) + '\n';
  if (written.has(line)) return;
  written.add(line);
  try {
    fs.appendFileSync(path.join(path.dirname(own), records), line);
  } catch {
    // Without a record nothing is known about the assertion.
  }
}

// Whether only the tests themselves would see a failure here. Code of the product could swallow it.
function isSafe() {
  const longest = Error.stackTraceLimit;
  Error.stackTraceLimit = Infinity;
  const frames = String(new Error().stack).split('\n').slice(1);
  Error.stackTraceLimit = longest;
  for (const frame of frames) {
    if (frame.includes('runProbedTest')) return true;
    const isForeign = !frame.includes(top + path.sep) || frame.includes('node_modules');
    if (!isForeign && !frame.includes(own)) return false;
  }
  return false;
}

// The word for a failure. In a test that failed anyway, right work may not come to all of its assertions.
function wordOf(test) {
  if (!soft.includes(test)) return 'failed';
  const longest = Error.stackTraceLimit;
  Error.stackTraceLimit = Infinity;
  const frames = String(new Error().stack).split('\n').slice(1);
  Error.stackTraceLimit = longest;
  const own = frames.filter((frame) => frame.includes(file)).map((frame) => /:(\d+):\d+\)?$/.exec(frame));
  return own.some((place) => place && branches.includes(Number(place[1]))) ? 'branched' : 'failed';
}

function probe(key, assertion) {
  const test = running.getStore();
  if (test === undefined) return assertion();
  const place = `${key} ${test}`;
  const [round, before] = rounds.get(place) || [0, ''];
  const outcome = round < MOST_ROUNDS ? (isSafe() ? wordOf(test) : 'raised') : before;
  rounds.set(place, [round + 1, outcome]);
  const failed = (error) => {
    record(key, test, outcome);
    if (outcome === 'raised') throw error;
  };
  // In a test that failed, the right assertion may be the one that fails: then its changed form holds.
  const passed = () => record(key, test, soft.includes(test) ? wordOf(test) : 'passed');
  let value;
  try {
    value = assertion();
  } catch (error) {
    return failed(error);
  }
  if (value && typeof value.then === 'function') return value.then(passed, failed);
  return passed();
}

// Records that a test came to a condition that could fail it. The test goes on as it would, unless the product called
// it: then it raises if it is an assertion, and tells nothing if it may belong to an object that the product uses.
function meet(key, test, isAssertion, fails, canFail) {
  const place = `${key} ${test}`;
  const [round] = rounds.get(place) || [0];
  rounds.set(place, [round + 1, '']);
  if (round >= MOST_ROUNDS) return;
  if (fails) {
    record(key, test, wordOf(test));
    return;
  }
  const safe = isSafe();
  if (!safe && !isAssertion) return;
  record(key, test, canFail ? (safe ? wordOf(test) : 'raised') : 'passed');
  if (!safe && canFail) throw new Error('changed');
}

// A condition that fails the test if it is true.
function guard(key, isAssertion, value) {
  const test = running.getStore();
  if (test === undefined) return changed.guard(value);
  meet(key, test, isAssertion, value, !takeUndecided());
  return value && soft.includes(test) && isSafe() ? false : value;
}

// A condition that fails the test if it is false, and so are others of the same chain.
function branch(key, isAssertion, value) {
  const test = running.getStore();
  if (test === undefined) return changed.branch();
  if (value) meet(key, test, isAssertion, false, true);
  return value;
}

// The value of a switch whose default fails the test.
function reach(key, isAssertion, value) {
  const test = running.getStore();
  if (test === undefined) return changed.reach();
  meet(key, test, isAssertion, false, true);
  return value;
}

// The test, which fails at its end.
function test(name, body) {
  const end = () => {
    record('end', name, 'failed');
    throw new Error('changed');
  };
  if (body.constructor.name === 'AsyncFunction') {
    return async function runProbedTest() {
      await running.run(name, () => body.apply(this, arguments));
      end();
    };
  }
  return function runProbedTest() {
    const value = running.run(name, () => body.apply(this, arguments));
    if (value && typeof value.then === 'function') return value.then(end);
    return end();
  };
}

return { probe, guard, branch, reach, compare, test };

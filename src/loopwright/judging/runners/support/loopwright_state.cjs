// Lists what changed in the state of this process since this module was loaded: by such state tests measure.
// Runs inside the user's test programs and never fails there. Only names are listed, never values.
'use strict';
// The product may replace what this module uses.
const { getOwnPropertyDescriptor, getPrototypeOf, defineProperty, is, create } = Object;
const { ownKeys, apply } = Reflect;

const MOST_NAMES = 200;
const LONGEST_NAME = 120;
const LANGUAGE = `Object Function Array String Number Boolean Symbol BigInt Math JSON Reflect Promise Proxy Date RegExp Map Set
  WeakMap WeakSet WeakRef FinalizationRegistry Error EvalError RangeError ReferenceError SyntaxError TypeError URIError
  AggregateError ArrayBuffer SharedArrayBuffer DataView Atomics Int8Array Uint8Array Uint8ClampedArray Int16Array
  Uint16Array Int32Array Uint32Array Float32Array Float64Array BigInt64Array BigUint64Array Intl Iterator`.split(/\s+/);
const LIBRARIES = ['assert', 'perf_hooks', 'timers', 'timers/promises', 'util', 'events', 'fs', 'os', 'path', 'url', 'module'];
const ITERATORS = { Array: [], Map: new Map(), Set: new Set(), String: '' };
// Node and test runners change these.
const USUAL = new Set(['process.exitCode', 'process.argv', 'process.execArgv', 'process.title', 'process.domain', 'process.chdir']);
const USUAL_VARIABLES = new Set(['LOOPWRIGHT_REPORTS']);

// Each object with its own properties. New properties of `isLanguage` objects count.
function parts() {
  const found = [];
  const known = new Set();
  const add = (name, object, isLanguage) => {
    if ((typeof object !== 'object' && typeof object !== 'function') || object === null || known.has(object)) return;
    known.add(object);
    const properties = new Map();
    for (const key of ownKeys(object)) properties.set(key, getOwnPropertyDescriptor(object, key));
    found.push({ name, object, isLanguage, properties, above: getPrototypeOf(object) });
    const prototype = properties.get('prototype');
    if (prototype && isLanguage) add(`${name}.prototype`, prototype.value, true);
  };
  for (const name of LANGUAGE) add(name, globalThis[name], true);
  for (const name of ownKeys(Intl)) if (typeof Intl[name] === 'function') add(`Intl.${String(name)}`, Intl[name], true);
  add('TypedArray', getPrototypeOf(Uint8Array), true);
  for (const [name, value] of Object.entries(ITERATORS)) add(`${name} Iterator`, getPrototypeOf(value[Symbol.iterator]()), true);
  add('Generator', getPrototypeOf(function* () {}).prototype, true);
  add('AsyncFunction', getPrototypeOf(async () => {}), true);
  add('performance', performance, false);
  add('Performance.prototype', getPrototypeOf(performance), false);
  add('process', process, false);
  add('process.hrtime', process.hrtime, false);
  add('console', console, false);
  add('Buffer', Buffer, true);
  for (const name of LIBRARIES) add(name, require(name), false);
  add('assert.strict', require('assert').strict, false);
  add('EventEmitter.prototype', require('events').prototype, false);
  add('fs.promises', require('fs').promises, false);
  add('module._extensions', require('module')._extensions, false);
  add('module.prototype', require('module').prototype, false);
  add('globalThis', globalThis, false);
  return found;
}

// Values behind accessors of the global object that do not change when they are replaced.
function replaceable() {
  return [['globalThis.process', process], ['globalThis.performance', performance], ['globalThis.Buffer', Buffer]];
}

function isSame(part, key, before, now) {
  if (now === undefined) return before.value === undefined && !before.get;
  if (is(now.value, before.value) && now.get === before.get && now.set === before.set) return true;
  if (!part.isLanguage && before.get && !now.get) return is(loaded(part.object, key, before, now), now.value);
  if (part.isLanguage || typeof before.value === 'function' || before.get) return false;
  // Modules and the process keep data of their own.
  return part.name === 'process' && String(key)[0] === '_';
}

// The value that node loads when a name is first used. Loading it may write the property again.
function loaded(object, key, before, now) {
  const value = apply(before.get, object, []);
  defineProperty(object, key, now);
  return value;
}

function* changedProperties(part) {
  const { name, object, properties, above } = part;
  if (getPrototypeOf(object) !== above) yield `${name}.__proto__`;
  for (const [key, before] of properties) {
    if (!isSame(part, key, before, getOwnPropertyDescriptor(object, key))) yield `${name}.${String(key)}`;
  }
  for (const key of ownKeys(object)) {
    // Elsewhere a new name matters if it hides another one.
    if (!properties.has(key) && (part.isLanguage || (above !== null && key in above))) yield `${name}.${String(key)}`;
  }
}

// Notes the state now. The result lists what is different later; null if that can't be told.
function watch() {
  let before, globals, variables;
  try {
    before = parts();
    globals = replaceable();
    variables = Object.assign(create(null), process.env);
  } catch {
    return () => null;
  }
  return () => {
    try {
      const names = new Set();
      for (const part of before) for (const name of changedProperties(part)) names.add(name);
      for (const [name, value] of replaceable()) if (value !== globals.find(([one]) => one === name)[1]) names.add(name);
      const now = Object.assign(create(null), process.env);
      for (const name of [...ownKeys(variables), ...ownKeys(now)]) {
        if (variables[name] !== now[name] && !USUAL_VARIABLES.has(name)) names.add(`env:${name}`);
      }
      const listed = [...names].filter((name) => !USUAL.has(name)).map((name) => name.slice(0, LONGEST_NAME));
      return listed.sort().slice(0, MOST_NAMES);
    } catch {
      return null;
    }
  };
}

module.exports = watch();

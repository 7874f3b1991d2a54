// Lists what changed in the state of this process since this module was loaded: by such state tests measure.
// Runs inside the user's test programs and never fails there. Only names are listed, never values.
'use strict';
// The product may replace what this module uses. So what runs at the end uses functions that are bound here, which use no
// others, and neither iterators nor methods; its objects and lists inherit nothing.
const { getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf, defineProperty, is, create } = Object;
const { ownKeys, apply } = Reflect;
const toText = String;
const environment = process.env;

// Stands for the state that a process could not tell. Readers of the report know it.
const UNKNOWN = 'unknown';
// Stands for names that were left out, and counts against the work: they may be what the product wants to hide.
const TOO_MANY = 'left-out';
// Of all names together. A line of the report has room for them, also if each character becomes six.
const MOST_CHARACTERS = 150000;
const LANGUAGE = `Object Function Array String Number Boolean Symbol BigInt Math JSON Reflect Promise Proxy Date RegExp Map Set
  WeakMap WeakSet WeakRef FinalizationRegistry Error EvalError RangeError ReferenceError SyntaxError TypeError URIError
  AggregateError ArrayBuffer SharedArrayBuffer DataView Atomics Int8Array Uint8Array Uint8ClampedArray Int16Array
  Uint16Array Int32Array Uint32Array Float32Array Float64Array BigInt64Array BigUint64Array Intl Iterator`.split(/\s+/);
const LIBRARIES = ['assert', 'perf_hooks', 'timers', 'timers/promises', 'util', 'events', 'fs', 'os', 'path', 'url', 'module'];
const ITERATORS = { Array: [], Map: new Map(), Set: new Set(), String: '' };
// Node and test runners change these.
const USUAL = {
  __proto__: null,
  'process.exitCode': true,
  'process.argv': true,
  'process.execArgv': true,
  'process.title': true,
  'process.domain': true,
  'process.chdir': true,
  'env:LOOPWRIGHT_REPORTS': true,
};

// Each object with its own properties. New properties of `isLanguage` objects count.
function parts() {
  const found = [];
  const known = new Set();
  const add = (name, object, isLanguage) => {
    if ((typeof object !== 'object' && typeof object !== 'function') || object === null || known.has(object)) return;
    known.add(object);
    const properties = create(null);
    for (const key of ownKeys(object)) properties[key] = described(object, key);
    found.push({ name, object, isLanguage, keys: ownKeys(properties), properties, above: getPrototypeOf(object) });
    const prototype = properties.prototype;
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

// A property, without what the product adds to all objects.
function described(object, key) {
  const found = getOwnPropertyDescriptor(object, key);
  return found && setPrototypeOf(found, null);
}

// Values behind accessors of the global object that do not change when they are replaced.
function replaceable() {
  return {
    __proto__: null,
    'globalThis.process': process,
    'globalThis.performance': performance,
    'globalThis.Buffer': Buffer,
  };
}

function isSame(part, key, before, now) {
  if (now === undefined) return before.value === undefined && !before.get;
  if (is(now.value, before.value) && now.get === before.get && now.set === before.set) return true;
  if (!part.isLanguage && before.get && !now.get) return is(loaded(part.object, key, before, now), now.value);
  if (part.isLanguage || typeof before.value === 'function' || before.get) return false;
  // Modules and the process keep data of their own.
  return part.name === 'process' && toText(key)[0] === '_';
}

// The value that node loads when a name is first used. Loading it may write the property again.
function loaded(object, key, before, now) {
  const value = apply(before.get, object, []);
  defineProperty(object, key, now);
  return value;
}

function addChangedProperties(part, add) {
  const { name, object, keys, properties, above } = part;
  if (getPrototypeOf(object) !== above) add(`${name}.__proto__`);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index];
    if (!isSame(part, key, properties[key], described(object, key))) add(`${name}.${toText(key)}`);
  }
  const now = ownKeys(object);
  for (let index = 0; index < now.length; index++) {
    const key = now[index];
    // Elsewhere a new name matters if it hides another one.
    if (!properties[key] && (part.isLanguage || (above !== null && key in above))) add(`${name}.${toText(key)}`);
  }
}

// Names in which two objects without parents differ.
function addDifferences(before, now, prefix, add) {
  const known = ownKeys(before);
  for (let index = 0; index < known.length; index++) {
    if (before[known[index]] !== now[known[index]]) add(prefix + known[index]);
  }
  const names = ownKeys(now);
  for (let index = 0; index < names.length; index++) if (!(names[index] in before)) add(prefix + names[index]);
}

function copied(variables) {
  const found = create(null);
  const names = ownKeys(variables);
  for (let index = 0; index < names.length; index++) found[names[index]] = variables[names[index]];
  return found;
}

// Notes the state now. The result lists what is different later. What can't be told is named as well: it may be what the
// product wants to hide.
function watch() {
  let before, globals, variables;
  try {
    before = parts();
    globals = replaceable();
    variables = copied(environment);
  } catch {
    return () => [UNKNOWN];
  }
  return () => {
    const listed = setPrototypeOf([], null);
    const known = create(null);
    let left = MOST_CHARACTERS;
    const add = (name) => {
      if (USUAL[name] || known[name] || left < 0) return;
      known[name] = true;
      left -= name.length;
      listed[listed.length] = left < 0 ? TOO_MANY : name;
    };
    const attempt = (compare) => {
      try {
        compare();
      } catch {
        add(UNKNOWN);
      }
    };
    for (let index = 0; index < before.length; index++) attempt(() => addChangedProperties(before[index], add));
    attempt(() => addDifferences(globals, replaceable(), '', add));
    attempt(() => addDifferences(variables, copied(environment), 'env:', add));
    return listed;
  };
}

module.exports = watch();

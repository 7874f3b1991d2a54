// Loaded by `node --require` into every node process: adds a recorder where mocha, jest or vitest is about to run.
'use strict';
const FOLDER = 'LOOPWRIGHT_REPORTS';

if (process.env[FOLDER]) {
  try {
    if (process.env.NODE_TEST_CONTEXT) {
      require('./loopwright_session.cjs').reportStateAtExit();
    } else {
      watchModules();
      addVitestReporter();
      require('./loopwright_session.cjs'); // now, before the product runs
    }
  } catch {
    // The user's program goes on without a report.
  }
}

function watchModules() {
  const Module = require('module');
  const path = require('path');
  const load = Module._load;
  const configs = new WeakMap();
  Module._load = function (request, parent, isMain) {
    const loaded = load.call(this, request, parent, isMain);
    try {
      const name = typeof request === 'string' ? path.basename(request, '.js') : '';
      if (name === 'jest-config' && typeof loaded.readConfigs === 'function') {
        if (!configs.has(loaded)) configs.set(loaded, jest(loaded));
        return configs.get(loaded);
      }
      if (name === 'runner') mocha(loaded && (loaded.Runner || loaded));
    } catch {
      // A module of another shape. The user's program gets it as it is.
    }
    return loaded;
  };
}

function jest(config) {
  async function readConfigs(...args) {
    const found = await config.readConfigs(...args);
    const reporters = found.globalConfig.reporters || [['default', {}]];
    const ours = [require.resolve('./loopwright_jest.cjs'), {}];
    // With bail, the tests after the first failure have no result that could be compared.
    return { ...found, globalConfig: { ...found.globalConfig, bail: 0, reporters: [...reporters, ours] } };
  }
  return { ...config, readConfigs };
}

function mocha(Runner) {
  const isRunner = typeof Runner === 'function' && Runner.prototype && typeof Runner.prototype.run === 'function';
  if (isRunner) require('./loopwright_mocha.cjs')(Runner);
}

function addVitestReporter() {
  if (!/[\\/]vitest([\\/]vitest\.mjs|[\\/]dist[\\/]cli\.js)?$/.test(realMain())) return;
  const given = process.argv.slice(2);
  if (['list', 'init', 'merge-reports'].includes(given[0])) return;
  const hasOwn = given.some((argument) => /^--reporters?(=|\.|$)/.test(argument));
  const ours = require.resolve('./loopwright_vitest.mjs');
  const end = process.argv.indexOf('--');
  const hasBail = given.some((argument) => /^--bail(=|$)/.test(argument));
  const flags = [...(hasOwn ? [] : ['--reporter=default']), `--reporter=${ours}`, ...(hasBail ? [] : ['--bail=0'])];
  for (const [index, argument] of process.argv.entries()) {
    if (/^--bail=/.test(argument)) process.argv[index] = '--bail=0';
    if (argument === '--bail' && /^\d+$/.test(process.argv[index + 1] || '')) process.argv[index + 1] = '0';
  }
  process.argv.splice(end < 0 ? process.argv.length : end, 0, ...flags);
}

function realMain() {
  try {
    return require('fs').realpathSync(process.argv[1] || '');
  } catch {
    return '';
  }
}

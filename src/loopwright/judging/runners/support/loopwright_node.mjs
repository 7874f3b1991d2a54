// A reporter for node's own test runner: writes each result with its file, and prints what node would print without it.
import { createRequire } from 'node:module';
import { isAbsolute } from 'node:path';
import { Readable } from 'node:stream';
import * as reporters from 'node:test/reporters';

const { openSession, thrown } = createRequire(import.meta.url)('./loopwright_session.cjs');
const MAJOR = Number(process.versions.node.split('.')[0]);

export default async function* report(source) {
  const session = openSession('node', process.versions.node, process.cwd());
  const names = [];
  async function* recorded() {
    for await (const event of source) {
      if (session) record(session, names, event);
      yield event;
    }
  }
  yield* usual(recorded());
  if (session) session.end('');
}

function record(session, names, { type, data }) {
  if (type === 'test:start') {
    names.length = data.nesting;
    names[data.nesting] = data.name;
  } else if (type === 'test:pass' || type === 'test:fail') {
    if (data.details && data.details.type === 'suite' && !onItsOwn(data)) return;
    const group = names.slice(0, data.nesting).join(' > ');
    // A file that fails by itself is reported as a test with the name of the file.
    const file = data.file || (isAbsolute(data.name) ? data.name : '');
    const isFile = data.nesting === 0 && file.endsWith(data.name) && data.name.includes('.');
    const error = type === 'test:fail' ? thrown(data.details && data.details.error) : { message: '', trace: '' };
    if (!error.message) error.message = reason(data.skip) || reason(data.todo);
    const ms = data.details && data.details.duration_ms;
    session.add({ file, group, name: isFile ? '' : data.name, status: status(type, data), ms, ...error });
  }
}

// A suite fails with its tests; it counts by itself only if its own code failed.
function onItsOwn(data) {
  const error = data.details && data.details.error;
  return Boolean(error) && error.failureType !== 'subtestsFailed';
}

function status(type, data) {
  if (isSet(data.skip)) return 'skipped';
  if (isSet(data.todo)) return type === 'test:pass' ? 'xpassed' : 'xfailed';
  return type === 'test:pass' ? 'passed' : 'failed';
}

function isSet(mark) {
  return mark !== undefined && mark !== false;
}

function reason(mark) {
  return typeof mark === 'string' ? mark : '';
}

function usual(events) {
  if (process.stdout.isTTY || MAJOR >= 23) return Readable.from(events).compose(new reporters.spec());
  return reporters.tap(events);
}

// What OpenSpec itself makes of a delta: a file with a JSON array of {living, delta}, answered by {rebuilt} or {refused}.
// Its CLI is asked in test_openspec_cli.py; this asks the same functions in the same order, thousands of times.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const dist = path.join(process.argv[2], 'dist', 'core');
const load = (name) => import(pathToFileURL(path.join(dist, name)).href);
const { Validator } = await load('validation/validator.js');
const { buildUpdatedSpec, findSpecUpdates } = await load('specs-apply.js');

const errors = (report) => report.issues.filter((issue) => issue.level === 'ERROR').map((issue) => issue.message);

async function archived({ living, delta }) {
  const root = mkdtempSync(path.join(tmpdir(), 'openspec-oracle-'));
  try {
    const change = path.join(root, 'changes', 'chg');
    const specs = path.join(root, 'specs');
    mkdirSync(path.join(change, 'specs', 'd'), { recursive: true });
    mkdirSync(path.join(specs, 'd'), { recursive: true });
    writeFileSync(path.join(change, 'specs', 'd', 'spec.md'), delta);
    if (living !== null) writeFileSync(path.join(specs, 'd', 'spec.md'), living);
    const report = await new Validator().validateChangeDeltaSpecs(change);
    if (!report.valid) return { refused: errors(report).join('; ') };
    const strict = (await new Validator(true).validateChangeDeltaSpecs(change)).valid;
    const [update] = await findSpecUpdates(change, specs);
    const { rebuilt } = await buildUpdatedSpec(update, 'chg', { silent: true });
    const verdict = await new Validator().validateSpecContent('d', rebuilt);
    if (!verdict.valid) return { refused: errors(verdict).join('; ') };
    return { rebuilt, strict, strictSpec: (await new Validator(true).validateSpecContent('d', rebuilt)).valid };
  } catch (error) {
    return { refused: error.message };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function judged({ text }) {
  const report = await new Validator(true).validateSpecContent('d', text);
  return { errors: errors(report), strict: report.valid };
}

const answers = [];
for (const one of JSON.parse(readFileSync(process.argv[3], 'utf8'))) answers.push(await ('text' in one ? judged(one) : archived(one)));
process.stdout.write(JSON.stringify(answers));

// A reporter for vitest that writes each result with its file.
import { createRequire } from 'node:module';

const { openSession, thrown } = createRequire(import.meta.url)('./loopwright_session.cjs');
const STATUS = { pass: 'passed', fail: 'failed', skip: 'skipped', todo: 'skipped' };

export default class {
  onInit(context) {
    this.context = context;
    this.session = openSession('vitest', context.version, context.config.root);
  }

  onFinished(files, errors) {
    this.finish(files || [], (errors || []).length ? 'errors outside tests' : '');
  }

  // Vitest 4 and later: `onFinished` is gone.
  onTestRunEnd(modules, errors, reason) {
    const early = reason === 'interrupted' ? 'interrupted' : (errors || []).length ? 'errors outside tests' : '';
    this.finish(modules.map((module) => module.task), early);
  }

  finish(files, early) {
    if (!this.session) return;
    for (const file of files) {
      const isBroken = file.result && file.result.state === 'fail' && (file.result.errors || []).length > 0;
      if (isBroken) this.add(file.filepath, [], '', file);
      this.walk(file.filepath, [], file.tasks || []);
    }
    this.session.end(early || (this.notRun ? `${this.notRun} tests did not run` : ''));
    this.session = null;
  }

  walk(file, groups, tasks) {
    for (const task of tasks) {
      if (task.type === 'suite') {
        if (task.result && (task.result.errors || []).length) this.add(file, groups, task.name, task);
        this.walk(file, [...groups, task.name], task.tasks);
      } else {
        this.add(file, groups, task.name, task);
      }
    }
  }

  add(file, groups, name, task) {
    const result = task.result || {};
    const status = STATUS[result.state] || STATUS[task.mode];
    if (!status) {
      this.notRun = (this.notRun || 0) + 1;
      return;
    }
    const error = thrown(status === 'failed' && result.errors ? result.errors[0] : null);
    this.session.add({ file, group: groups.join(' > '), name, status, ms: result.duration, ...error });
  }
}

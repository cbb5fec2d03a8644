import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { type Modules, composeModules } from '../../../infrastructure/composition/compose-modules.ts';
import { createShutdown } from '../../../infrastructure/composition/create-shutdown.ts';
import { openPlatform } from '../../../infrastructure/composition/open-platform.ts';
import { loadSettings } from '../../../infrastructure/configuration/load-settings.ts';
import { environmentLayer } from '../../../infrastructure/configuration/read-settings.ts';
import { useDatabase } from '../../support/database.ts';
import { useDirectory } from '../../support/directory.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { testEnvironment } from '../../support/service.ts';

describe('the modules of a process', () => {
  const logger = recordingLogger();
  const shutdown = createShutdown({ logger });
  const directory = useDirectory();
  after(() => shutdown.closeAll());
  const database = useDatabase();

  /** Composes the modules of a process with these roles; starts no background work. */
  async function composed(roles: string): Promise<Modules> {
    const { settings } = loadSettings([
      environmentLayer({ ...testEnvironment(database.url(), directory()), SVC_ROLES: roles }),
    ]);
    return composeModules(await openPlatform({ settings, logger, shutdown }));
  }

  it('are all listed, each once', async () => {
    const { all } = await composed('api');
    const files = readdirSync('infrastructure/composition').filter((name) => name.startsWith('compose-'));
    expect(new Set(all).size).to.equal(all.length);
    expect(all).to.have.length(files.length - ['compose-modules.ts'].length);
  });

  it('name each worker and each sweep differently, because logs tell them apart by name', async () => {
    const { all } = await composed('api');
    for (const names of [
      all.flatMap(({ workers }) => workers.map(({ name }) => name)),
      all.flatMap(({ sweeps }) => sweeps.map(({ name }) => name)),
    ]) {
      expect(names).to.not.deep.equal([]);
      expect(new Set(names).size, names.join()).to.equal(names.length);
    }
  });

  it('repeat the sweep of magic links every 15 minutes', async () => {
    const { all } = await composed('api');
    const sweep = all.flatMap(({ sweeps }) => sweeps).find(({ name }) => name === 'sweep magic links');
    expect(sweep?.everyMs).to.equal(15 * 60_000);
    expect(await sweep?.run(new AbortController().signal)).to.equal(0);
  });

  it('serve only probes and metrics in a process without the role api', async () => {
    const { routes } = await composed('worker');
    expect([...new Set(routes.map(({ path }) => path))]).to.have.members([
      '/healthz',
      '/readyz',
      '/startup',
      '/api/admin/health',
      '/api/admin/ready',
      '/api/v1/health',
      '/api/v1/ready',
      '/api/admin/metrics',
    ]);
  });
});

import { expect } from 'chai';
import { v7 } from 'uuid';
import { createUser } from '../../application/identity/create-user.ts';
import { useDatabase } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { caller } from '../support/http.ts';
import { startIdentity } from '../support/identity-process.ts';
import { OWNER } from '../support/owner.ts';
import { type ServiceProcess, startServiceProcess } from '../support/process.ts';
import { testEnvironment } from '../support/service.ts';

describe('an installation with accounts but without a tenant', function () {
  this.timeout(60_000);
  let service: ServiceProcess | undefined;
  const directory = useDirectory();
  after(async () => {
    await service?.end('SIGKILL');
  });
  const database = useDatabase();

  it('creates the default tenant with its first access rule at the first start, and nothing at the second', async () => {
    const before = await startIdentity({ url: database.url() });
    const context = {
      tenant: 'default',
      actor: { kind: 'system', id: 'test' },
      correlationId: v7(),
      causationId: v7(),
      now: () => new Date(),
      newId: v7,
    } as const;
    const { position } = await createUser(
      { ...OWNER, password: OWNER.password, roles: ['super_admin'] },
      context,
      before.dependencies,
    );
    expect(await before.dependencies.progress.waitFor(['identity'], position!, 5_000)).to.equal(true);
    await before.stop();
    for (let start = 0; start < 2; start += 1) {
      await service?.end('SIGTERM');
      const started = (service = await startServiceProcess(testEnvironment(database.url(), directory())));
      const admin = caller(() => started.adminUrl);
      const { token } = (await admin('POST', '/api/admin/auth/login', OWNER)).json<{ token: string }>();
      const get = async (path: string) =>
        (await admin('GET', path, undefined, { authorization: `Bearer ${token}` })).json<object[]>();
      const [[tenant, ...tenants], [rule, ...rules]] = [
        await get('/api/admin/tenants'),
        await get('/api/admin/permissions'),
      ];
      expect([tenants, rules]).to.deep.equal([[], []]);
      expect(tenant).to.deep.include({ slug: 'default', name: 'Default', disabled: false });
      expect(rule).to.deep.include({ role: 'editor', schema_name: '*', actions: ['*'] });
    }
    const events = await database
      .db()
      .query(`select 1 from eventstore.events where stream like 'tenant-%' or stream like 'access_rule-%'`);
    expect(events).to.have.length(2);
  });
});

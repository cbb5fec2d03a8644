import { expect } from 'chai';
import { useDatabase } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { caller } from '../support/http.ts';
import { OWNER, setUpOwner } from '../support/owner.ts';
import { type ServiceProcess, startServiceProcess } from '../support/process.ts';
import { testEnvironment } from '../support/service.ts';
import { type TcpProxy, startTcpProxy } from '../support/tcp-proxy.ts';

describe('a database that neither answers nor refuses connections', function () {
  this.timeout(60_000);
  const directory = useDirectory();
  let proxy: TcpProxy;
  let service: ServiceProcess | undefined;
  after(async () => {
    proxy.thaw();
    await service?.end('SIGTERM');
    await proxy.close();
  });
  const database = useDatabase();
  before(async () => {
    const url = new URL(database.url());
    proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    service = await startServiceProcess(testEnvironment(url.toString(), directory()));
  });

  it('makes every route answer 503 instead of waiting, and nothing else once it answers again', async () => {
    const admin = caller(() => service?.adminUrl ?? '');
    const content = caller(() => service?.contentUrl ?? '');
    const { token } = await setUpOwner(admin);
    const bearer = { authorization: `Bearer ${token}` };
    const note = { name: 'note', fields: [{ name: 'n', field_type: 'integer' }] };
    expect((await admin('POST', '/api/admin/schemas', note, bearer)).status).to.equal(200);

    // So that what the checks of the next write read is in memory, and its append begins.
    expect((await content('POST', '/api/v1/content/note', { data: { n: 0 } }, bearer)).status).to.equal(201);

    // The proxy forwards nothing until the test has every response: without a limit the requests would never end.
    proxy.freeze();
    const replies = await Promise.all([
      admin('GET', '/healthz'),
      content('GET', '/readyz'),
      admin('GET', '/api/admin/health', undefined, bearer),
      admin('GET', '/api/admin/schemas', undefined, bearer),
      content('GET', '/api/v1/content/note', undefined, bearer),
      content('POST', '/api/v1/content/note', { data: { n: 1 } }, bearer),
      admin('POST', '/api/admin/auth/login', OWNER),
      content('GET', '/api/v1/content/note', undefined, { authorization: 'Bearer unknown' }),
      content('GET', '/api/v1/content/note', undefined, { 'x-api-key': `svc_${'a'.repeat(40)}` }),
    ]);
    const statuses = replies.map(({ status }) => status);
    // A token that is not signed by this installation is refused without the database.
    expect(statuses).to.deep.equal([503, 503, 503, 503, 503, 503, 503, 401, 503]);
    for (const { status, headers } of replies) if (status === 503) expect(headers['retry-after']).to.equal('1');
    expect(replies[4].json()).to.include({ error: 'service unavailable' });
    // `outcome_unknown` once the handler has begun; the checks before it may need the database too.
    expect(replies[5].json<{ code: string }>().code).to.be.oneOf(['outcome_unknown', 'unavailable']);

    proxy.thaw();
    await eventually(async () => {
      expect((await admin('GET', '/readyz')).status).to.equal(200);
      expect((await content('GET', '/api/v1/content/note', undefined, bearer)).status).to.equal(200);
    });
  });
});

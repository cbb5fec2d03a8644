import { expect } from 'chai';
import { useDatabase } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { caller } from '../support/http.ts';
import { licenseEnvironment } from '../support/license.ts';
import { setUpOwner } from '../support/owner.ts';
import { type ServiceProcess, startServiceProcess } from '../support/process.ts';
import { testEnvironment } from '../support/service.ts';

describe('the monthly limit of an API key on two service processes', function () {
  this.timeout(90_000);
  const database = useDatabase();
  const directory = useDirectory();
  const services: ServiceProcess[] = [];
  after(async () => {
    await Promise.all(services.map((service) => service.end('SIGKILL')));
  });

  it('is shared and survives kill -9, and a revoked key stops working on both', async () => {
    const environment = {
      ...testEnvironment(database.url(), directory()),
      ...licenseEnvironment({ capabilities: ['apikey-pro'] }),
    };
    for (let n = 0; n < 2; n += 1) services.push(await startServiceProcess(environment));
    const [first, second] = services as [ServiceProcess, ServiceProcess];
    const { token } = await setUpOwner(caller(() => first.adminUrl));
    const adminOf = ({ adminUrl }: ServiceProcess) => caller(() => adminUrl, { authorization: `Bearer ${token}` });
    const makeKey = async (body: object) =>
      (
        await adminOf(first)('POST', '/api/admin/api-keys', { name: 'k', roles: ['editor'], scopes: ['*:*'], ...body })
      ).json<{ id: string; raw_key: string }>();
    const read = async ({ contentUrl }: ServiceProcess, { raw_key }: { readonly raw_key: string }) =>
      (await caller(() => contentUrl)('GET', '/api/v1/schemas', undefined, { 'x-api-key': raw_key })).status;
    const requestsOf = async ({ id }: { readonly id: string }, service: ServiceProcess) =>
      (await adminOf(service)('GET', `/api/admin/usage/api-key/${id}`)).json<{ requests: number }>().requests;

    const [key, unlimited] = [await makeKey({ monthly_limit: 60 }), await makeKey({})];
    await eventually(async () => {
      expect(await read(second, unlimited)).to.equal(200);
    });
    const statuses = await Promise.all(Array.from({ length: 40 }, (_, n) => read(n % 2 === 0 ? first : second, key)));
    expect(statuses.every((status) => status === 200)).to.equal(true);
    for (let n = 0; n < 30; n += 1) expect(await read(first, unlimited)).to.equal(200);
    await eventually(async () => {
      expect(await requestsOf(unlimited, second)).to.be.at.least(30);
    });
    await first.end('SIGKILL');

    expect(await requestsOf(key, second), 'counted by the dead process').to.equal(40);
    const rest = await Promise.all(Array.from({ length: 30 }, () => read(second, key)));
    expect(rest.filter((status) => status === 200)).to.have.length(20);
    expect(rest.filter((status) => status === 429)).to.have.length(10);

    const third = await startServiceProcess(environment);
    services.push(third);
    expect([await read(third, key), await read(third, unlimited)]).to.deep.equal([429, 200]);
    expect((await adminOf(second)('POST', `/api/admin/api-keys/${unlimited.id}/revoke`)).status).to.equal(204);
    expect(await read(second, unlimited)).to.equal(401);
    await eventually(async () => {
      expect(await read(third, unlimited)).to.equal(401);
    });
  });
});

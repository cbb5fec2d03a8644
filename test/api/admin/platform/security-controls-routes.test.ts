import { expect } from 'chai';
import { caller } from '../../../support/http.ts';
import { useService } from '../../../support/service.ts';

describe('the security controls', () => {
  const service = useService();

  it('are listed with whether they are enforced', async () => {
    const { controls } = (await service.owner('GET', '/api/admin/security/controls')).json<{
      controls: { name: string; enforced: boolean }[];
    }>();
    expect(controls.find(({ name }) => name === 'audit_chain')).to.include({ enforced: true });
    expect(controls.find(({ name }) => name === 'secure_cookies')).to.include({ enforced: false });
  });
  it('are for admins', async () => {
    const anonymous = caller(() => service.service().adminUrl);
    expect((await anonymous('GET', '/api/admin/security/controls')).status).to.equal(401);
  });
});

import { expect } from 'chai';
import { useService } from '../support/service.ts';

describe('passwords', () => {
  const { owner } = useService();
  const create = (password: string) =>
    owner('POST', '/api/admin/users', { email: 'weak@palimpsest.test', password, roles: ['editor'] });

  it('that violate the policy are refused with 422 and the reasons, and never appear in the response', async () => {
    for (const [password, message] of [
      ['Short-1', 'must have at least 12 characters'],
      ['all-lower-case-1', 'must contain an upper-case letter'],
      ['ALL-UPPER-CASE-1', 'must contain a lower-case letter'],
      ['No-Digits-Anywhere', 'must contain a digit'],
      [`Aa1${'x'.repeat(70)}`, 'must have at most 72 bytes'],
      [`Aa1${'ä'.repeat(35)}`, 'must have at most 72 bytes'],
    ] as const) {
      const reply = await create(password);
      expect(reply.status, password).to.equal(422);
      const body = reply.json<{ error: string; fields: readonly object[] }>();
      expect(body.error).to.equal('password does not meet the policy');
      expect(body.fields).to.deep.equal([{ field: 'password', message }]);
      expect(reply.text).to.not.include(password);
    }
  });

  it('are accepted up to the length that the hash function uses', async () => {
    expect((await create(`Aa1${'x'.repeat(69)}`)).status).to.equal(201);
  });
});

import { expect } from 'chai';
import { chmod, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadSigningKeys } from '../../../infrastructure/crypto/signing-keys.ts';
import { useDirectoryPerTest } from '../../support/directory.ts';
import { rejectionOf } from '../../support/rejection.ts';

describe('the signing key file', () => {
  const directory = useDirectoryPerTest();

  it('is created on the first start, readable by its owner only, and reused later', async () => {
    const path = join(directory(), 'deep', 'jwt_key.json');
    const keys = await loadSigningKeys({ path, ownerOnly: true });
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
    expect(await loadSigningKeys({ path })).to.deep.equal(keys);
  });

  it('is created once when several processes start at the same time', async () => {
    const path = join(directory(), 'jwt_key.json');
    const all = await Promise.all(Array.from({ length: 8 }, () => loadSigningKeys({ path })));
    for (const keys of all) expect(keys).to.deep.equal(all[0]);
    expect(await readdir(directory())).to.deep.equal(['jwt_key.json']);
  });

  it('is refused when others can read it although ownerOnly is set, and when it contains no key', async () => {
    const path = join(directory(), 'jwt_key.json');
    await loadSigningKeys({ path });
    await chmod(path, 0o640);
    expect(String(await rejectionOf(loadSigningKeys({ path, ownerOnly: true })))).to.contain('JWT_KEY_PATH');
    for (const text of ['{}', '{"keys":[]}', '{"keys":[{"kty":"oct","k":"AAAA"}]}', 'null']) {
      await writeFile(path, text);
      expect(String(await rejectionOf(loadSigningKeys({ path })))).to.contain('contains no Ed25519 key');
    }
  });
});

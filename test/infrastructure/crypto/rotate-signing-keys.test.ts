import { expect } from 'chai';
import { decodeProtectedHeader } from 'jose';
import { chmod, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rotateSigningKeys } from '../../../infrastructure/crypto/rotate-signing-keys.ts';
import { createSessionTokens } from '../../../infrastructure/crypto/session-tokens.ts';
import { loadSigningKeys } from '../../../infrastructure/crypto/signing-keys.ts';
import { watchSigningKeys } from '../../../infrastructure/crypto/watch-signing-keys.ts';
import { useDirectoryPerTest } from '../../support/directory.ts';
import { eventually } from '../../support/eventually.ts';

const userId = '018f2f4e-7a3b-7c1d-9e2f-3a4b5c6d7e8f';
const claims = {
  userId,
  sessionId: '018f2f4e-7a3b-7c1d-9e2f-3a4b5c6d7e90',
  tenant: 'default',
  roles: ['admin'],
  sessionsRevision: 3,
};

describe('a rotation of signing keys', () => {
  const directory = useDirectoryPerTest();
  let path = '';
  const cleanups: (() => void)[] = [];
  beforeEach(() => {
    path = join(directory(), 'jwt_key.json');
  });
  afterEach(() => {
    for (const cleanUp of cleanups.splice(0)) cleanUp();
  });
  const now = new Date('2026-05-01T00:00:00.000Z');
  const later = new Date('2026-05-01T01:00:01.000Z');

  /** Opens signing keys and tokens as a process does; it polls the file every 20 ms. */
  async function openProcess(clock: () => Date, onError: (error: unknown) => void = () => undefined) {
    const source = watchSigningKeys({
      path,
      ownerOnly: true,
      keys: await loadSigningKeys({ path }),
      now: clock,
      onError,
      pollMs: 20,
    });
    cleanups.push(() => {
      source.close();
    });
    return { source, tokens: createSessionTokens({ keys: source, expirySeconds: 60 }) };
  }

  it('signs with the new key, verifies with the previous one until it retires, and then removes that from the file', async () => {
    const [former] = await loadSigningKeys({ path });
    const before = await (await openProcess(() => now)).tokens.sign(claims, now);
    const [next, retiring] = await rotateSigningKeys({ path, overlapSeconds: 3600, now });
    expect(next.kid).to.not.equal(former.kid);
    expect(retiring).to.deep.equal({ ...former, retires_at: '2026-05-01T01:00:00.000Z' });
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
    expect(await readdir(directory())).to.deep.equal(['jwt_key.json']);

    let clock = now;
    const { source, tokens } = await openProcess(() => clock);
    expect(await tokens.verify(before.token, now)).to.include({ userId });
    expect(decodeProtectedHeader((await tokens.sign(claims, now)).token).kid).to.equal(next.kid);
    expect(tokens.jwks(now).keys.map(({ kid }) => kid)).to.deep.equal([next.kid, former.kid]);
    expect(tokens.jwks(later).keys.map(({ kid }) => kid)).to.deep.equal([next.kid]);
    const long = createSessionTokens({ keys: source, expirySeconds: 7200 });
    const byFormer = await createSessionTokens({
      keys: { current: () => [former], reread: () => Promise.resolve(false) },
      expirySeconds: 7200,
    }).sign(claims, now);
    expect(await long.verify(byFormer.token, new Date(later.getTime() - 2_000))).to.include({ userId });
    expect(await long.verify(byFormer.token, later), 'a retired key verifies nothing').to.equal(undefined);
    clock = later;
    await eventually(() => {
      expect(source.current()).to.deep.equal([next]);
    });
    expect(await loadSigningKeys({ path })).to.deep.equal([next]);
  });

  it('is noticed by a running process, at once when a token names an unknown key', async () => {
    const { source, tokens } = await openProcess(() => now);
    const asking = watchSigningKeys({
      path,
      ownerOnly: true,
      keys: await loadSigningKeys({ path }),
      now: () => now,
      onError: () => undefined,
      pollMs: 1_000_000,
    });
    cleanups.push(() => {
      asking.close();
    });
    const [next] = await rotateSigningKeys({ path, overlapSeconds: 3600, now });
    await eventually(() => {
      expect(source.current()[0]).to.deep.equal(next);
    });
    const { token } = await tokens.sign(claims, now);
    const asked = createSessionTokens({ keys: asking, expirySeconds: 60 });
    expect(await asked.verify(token, now)).to.include({ userId });
    expect((await asked.sign(claims, now)).token.split('.')[0]).to.equal(token.split('.')[0]);
  });

  it('is done by one process at a time, and leaves no files when it fails', async () => {
    await loadSigningKeys({ path });
    const rotations = await Promise.allSettled(
      Array.from({ length: 4 }, () => rotateSigningKeys({ path, overlapSeconds: 60, now })),
    );
    const succeeded = rotations.filter(({ status }) => status === 'fulfilled').length;
    expect(succeeded).to.be.at.least(1);
    expect(await loadSigningKeys({ path })).to.have.length(succeeded + 1);
    expect(await readdir(directory())).to.deep.equal(['jwt_key.json']);
  });

  it('does not replace the known keys by a file that is invalid or readable by others', async () => {
    const reasons: string[] = [];
    const { source } = await openProcess(
      () => now,
      (error) => reasons.push(String(error)),
    );
    const [key] = source.current();
    await writeFile(path, '{"keys":[]}');
    await eventually(() => {
      expect(reasons.join()).to.contain('contains no Ed25519 key');
    });
    // Rename the file in one step, so that no check finds it with correct permissions.
    await loadSigningKeys({ path: `${path}.open` });
    await chmod(`${path}.open`, 0o644);
    await rename(`${path}.open`, path);
    await eventually(() => {
      expect(reasons.join()).to.contain('readable by its owner only');
    });
    expect(source.current()).to.deep.equal([key]);
    expect(new Set(reasons).size, 'each error is reported once').to.equal(reasons.length);
  });
});

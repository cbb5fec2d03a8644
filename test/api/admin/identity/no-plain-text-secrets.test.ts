import { expect } from 'chai';
import { OWNER, bearer, newUser, setUpOwner, signInAs, useIdentity } from '../../../support/identity-process.ts';
import type { Session } from '../../../support/owner.ts';

describe('the database at rest', () => {
  const { admin, content, database, process } = useIdentity();

  it('contains no e-mail address, password, key or token in plain text', async () => {
    const owner = await setUpOwner(admin);
    const user = await newUser(admin, owner);
    const session = await signInAs(admin, user);
    const next = (
      await admin('POST', '/api/admin/auth/refresh', { refresh_token: session.refresh_token })
    ).json<Session>();
    await admin('POST', '/api/admin/auth/login', { email: user.email, password: 'Wrong-Password-1' });
    await admin('PUT', `/api/admin/users/${user.id}/password`, { password: 'Yet-Another-Pass-2' }, bearer(owner.token));
    const key = (
      await admin(
        'POST',
        '/api/admin/api-keys',
        { name: 'site', scopes: ['*:*'] },
        { ...bearer(owner.token), 'idempotency-key': 'once' },
      )
    ).json<{ raw_key: string }>();
    await content('GET', '/api/v1/content/post', undefined, { 'x-api-key': key.raw_key });
    await admin('POST', '/api/admin/auth/logout', { refresh_token: next.refresh_token }, bearer(owner.token));
    await process().requests.flush();

    const dump = await dumpOf();
    // Check that the dump contains the data: these values are stored in plain text.
    for (const readable of [user.id, owner.user.id, 'UserCreated', 'ApiKeyCreated', key.raw_key.slice(4, 12)])
      expect(dump).to.contain(readable);
    const secrets = [
      OWNER.email,
      OWNER.email.toLowerCase(),
      user.email,
      user.email.split('@')[0]!,
      OWNER.password,
      user.password,
      'Yet-Another-Pass-2',
      'Wrong-Password-1',
      key.raw_key,
      key.raw_key.slice(12),
      '127.0.0.1',
      '$2b$',
      '$2a$',
      ...[owner, session, next].flatMap(({ token, csrf_token, refresh_token }) => [
        token,
        token.split('.')[2]!,
        csrf_token,
        refresh_token,
      ]),
    ];
    for (const secret of secrets) {
      expect(dump.includes(secret), `found in clear: ${secret.slice(0, 6)}…`).to.equal(false);
      for (const encoding of ['base64', 'hex'] as const)
        expect(dump.includes(Buffer.from(secret).toString(encoding)), `found as ${encoding}`).to.equal(false);
    }
  });

  /** All rows of all tables of the database, as text. */
  async function dumpOf(): Promise<string> {
    const tables = await database
      .db()
      .query<{ name: string }>(
        `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
      );
    const parts: string[] = [];
    for (const { name } of tables) {
      const rows = await database.db().query<{ row: string }>(`select to_jsonb(t)::text as row from ${name} t`);
      // Bytes are printed as hex; search their text as well.
      for (const { row } of rows)
        parts.push(
          name,
          row,
          row.replaceAll(/\\\\x((?:[0-9a-f]{2})+)/g, (_all, hex: string) => Buffer.from(hex, 'hex').toString('utf8')),
        );
    }
    return parts.join('\n');
  }
});

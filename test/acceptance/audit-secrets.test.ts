import { expect } from 'chai';
import type { RecordedEvent } from '../../domain/event.ts';
import type { Json } from '../../domain/json.ts';
import { openPostgresEventStore } from '../../infrastructure/event-store/postgres/postgres-event-store.ts';
import { codeOf } from '../support/authenticator.ts';
import { OWNER } from '../support/owner.ts';
import { useService } from '../support/service.ts';

type Page = { readonly data: readonly { readonly id: string; readonly type: string }[]; readonly next_cursor: string };

/** Texts with the length and alphabet of a digest, key or hash. */
const DIGEST_LIKE = /[A-Za-z0-9+/_=-]{40,}/;
const PASSWORD = 'Another-Good-Pass-9';

describe('the audit log', () => {
  const service = useService();
  const { owner, admin } = service;

  it('shows every event without secrets, digests and hashes', async () => {
    await beBusy();
    const raw = await log();
    const shown = await everyDetail();
    expect(new Set(shown.map(({ type }) => type))).to.deep.equal(new Set(raw.map(({ type }) => type)));
    expect([...new Set(raw.map(({ type }) => type))]).to.include.members([
      'UserCreated',
      'UserPasswordChanged',
      'UserMfaEnabled',
      'UserRecoveryCodeUsed',
      'UserMfaDisabled',
      'UserRolesChanged',
      'UserStateChanged',
      'UserSignedIn',
      'UserSessionEnded',
      'UserDeleted',
      'ApiKeyCreated',
      'ApiKeyRevoked',
      'ApiKeyDeleted',
      'WebhookCreated',
      'WebhookSecretRotated',
      'ContentTypeSaved',
      'EntryCreated',
      'EntryFieldsChanged',
    ]);
    const secrets = [
      OWNER.email,
      OWNER.password,
      PASSWORD,
      'hook-secret',
      'hook.example',
      ...raw.filter(({ type }) => type !== 'AuditSealed').flatMap((event) => secretsIn(event.data)),
    ];
    expect(secrets.length).to.be.above(10);
    for (const { type, text } of shown) {
      // The digests and the signature of an audit seal are public.
      if (type !== 'AuditSealed') expect(text, type).not.to.match(DIGEST_LIKE);
      for (const secret of secrets)
        expect(text.includes(secret), `${type} shows ${secret.slice(0, 4)}…`).to.equal(false);
    }
  });

  it('masks fields such as `key_hash` in identity events only, and shows entry fields of the same names', async () => {
    const detail = (await everyDetail()).find(({ type, text }) => type === 'EntryCreated' && text.includes('key_hash'));
    expect(detail?.text).to.include('"key_hash":"content"');
  });

  async function beBusy(): Promise<void> {
    const user = (
      await owner('POST', '/api/admin/users', {
        email: 'somebody@palimpsest.test',
        password: PASSWORD,
        roles: ['editor'],
      })
    ).json<{ id: string }>();
    const session = (
      await admin('POST', '/api/admin/auth/login', { email: 'somebody@palimpsest.test', password: PASSWORD })
    ).json<{ token: string; refresh_token: string }>();
    const authorization = `Bearer ${session.token}`;
    const { secret } = (
      await admin('POST', '/api/admin/auth/mfa/setup', { password: PASSWORD }, { authorization })
    ).json<{ secret: string }>();
    const {
      recovery_codes: [code],
    } = (
      await admin('POST', '/api/admin/auth/mfa/enable', { code: codeOf(secret, new Date()) }, { authorization })
    ).json<{ recovery_codes: string[] }>();
    expect(
      (await admin('POST', '/api/admin/auth/mfa/disable', { password: PASSWORD, code }, { authorization })).status,
    ).to.equal(204);
    await admin('POST', '/api/admin/auth/logout', { refresh_token: session.refresh_token }, { authorization });
    await owner('PUT', `/api/admin/users/${user.id}/password`, { password: `${PASSWORD}9` });
    await owner('PUT', `/api/admin/users/${user.id}/roles`, { roles: ['admin'] });
    await owner('PUT', `/api/admin/users/${user.id}/state`, { disabled: true });
    await owner('DELETE', `/api/admin/users/${user.id}`);
    const key = (await owner('POST', '/api/admin/api-keys', { name: 'gone', scopes: ['*:*'] })).json<{
      key: { id: string };
      id?: string;
    }>();
    const keyId = key.id ?? key.key.id;
    await owner('POST', `/api/admin/api-keys/${keyId}/revoke`);
    await owner('DELETE', `/api/admin/api-keys/${keyId}`);
    await owner('POST', '/api/admin/schemas', {
      name: 'note',
      fields: [
        { name: 'title', field_type: 'text' },
        { name: 'key_hash', field_type: 'text' },
      ],
    });
    const content = await service.key({});
    const entry = (await content('POST', '/api/v1/content/note', { data: { title: 'a', key_hash: 'content' } })).json<{
      id: string;
    }>();
    await content('PUT', `/api/v1/content/note/${entry.id}`, { data: { title: 'b' } });
    const made = await owner('POST', '/api/admin/webhooks', {
      name: 'w',
      url: 'http://127.0.0.1:8099/hook.example',
      events: ['after_delete'],
      secret: 'hook-secret-hook-secret',
    });
    expect(made.status, made.text).to.equal(201);
    await owner('POST', `/api/admin/webhooks/${made.json<{ id: string }>().id}/rotate-secret`, {});
  }

  async function everyDetail(): Promise<readonly { readonly type: string; readonly text: string }[]> {
    const details: { type: string; text: string }[] = [];
    for (let cursor = ''; ;) {
      const page = (
        await owner('GET', `/api/admin/audit?limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`)
      ).json<Page>();
      for (const { id, type } of page.data) {
        const reply = await owner('GET', `/api/admin/audit/${id}`);
        expect(reply.status).to.equal(200);
        details.push({ type, text: reply.text });
      }
      if (page.next_cursor === '') return details;
      cursor = page.next_cursor;
    }
  }

  async function log(): Promise<readonly RecordedEvent[]> {
    const store = await openPostgresEventStore({ database: service.database.db() });
    const events: RecordedEvent[] = [];
    for await (const event of store.readAll()) events.push(event);
    await store.close();
    return events;
  }
});

/** Texts that are sealed values, or members named as digests or hashes. */
function secretsIn(value: Json, name = ''): readonly string[] {
  if (typeof value === 'string') return /digest|hash/.test(name) && value !== 'content' ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((member) => secretsIn(member, name));
  const sealed = '$sealed' in value;
  return Object.entries(value).flatMap(([key, member]) =>
    sealed ? (typeof member === 'string' && member.length > 8 ? [member] : []) : secretsIn(member, key),
  );
}

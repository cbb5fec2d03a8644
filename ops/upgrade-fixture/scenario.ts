import type { Call } from '../../test/support/http.ts';

/** A read with its response. After an upgrade the response must contain at least the same data. */
export type Expectation = {
  readonly api: 'admin' | 'content';
  readonly as: 'owner' | 'key';
  readonly path: string;
  readonly body: unknown;
};

/** The credentials, ids and reads that a test needs to use an installation. */
export type Install = {
  readonly owner: { readonly email: string; readonly password: string };
  readonly editor: { readonly email: string; readonly password: string };
  readonly key: string;
  readonly revokedKey: string;
  readonly webhook: { readonly id: string; readonly secret: string; readonly schema: string };
  /** A unique value that an entry has. */
  readonly taken: { readonly schema: string; readonly data: Readonly<Record<string, unknown>> };
  readonly expectations: readonly Expectation[];
};

/** A fixture without its database. Its secrets and signing key are not used elsewhere. */
export type KeptInstall = Install & {
  readonly build: string;
  readonly secrets: Readonly<Record<string, string>>;
  readonly signingKey: string;
};

export type ScenarioOptions = {
  readonly admin: Call;
  readonly content: Call;
  readonly setupToken: string;
  /** Address of the webhook receiver. */
  readonly receiverUrl: string;
};

const owner = { email: 'owner@fixture.test', password: 'Fixture-Owner-Password-1' } as const;
const editor = { email: 'editor@fixture.test', password: 'Fixture-Editor-Password-1' } as const;
const SECRET = 'a-webhook-secret-of-the-fixture';

const FIELDS = [
  { name: 'title', field_type: 'text', required: true, indexed: true },
  { name: 'body', field_type: 'rich_text' },
  { name: 'link', field_type: 'url' },
  { name: 'contact', field_type: 'email' },
  { name: 'handle', field_type: 'slug', unique: true },
  { name: 'score', field_type: 'number' },
  { name: 'stock', field_type: 'integer', validation: [{ rule: 'min', params: { value: 0 } }] },
  { name: 'price', field_type: 'decimal', unique: true },
  { name: 'live', field_type: 'boolean', default: true },
  { name: 'day', field_type: 'date' },
  { name: 'moment', field_type: 'datetime' },
  { name: 'hour', field_type: 'time' },
  { name: 'reference', field_type: 'uuid' },
  { name: 'extra', field_type: 'json' },
  { name: 'picture', field_type: 'media' },
  { name: 'author', field_type: 'relation', relation_to: 'person' },
] as const;

/**
 * Fills an installation with every kind of data: all field types, drafts, revisions, changes of content types, API
 * keys, users and webhooks.
 */
export async function fill({ admin, content, setupToken, receiverUrl }: ScenarioOptions): Promise<Install> {
  const { token } = await must<{ token: string }>(
    admin('POST', '/api/admin/setup', { ...owner, setup_token: setupToken }),
  );
  const bearer = { authorization: `Bearer ${token}` };
  const asOwner: Call = (method, path, body, headers) => admin(method, path, body, { ...bearer, ...headers });
  await must(asOwner('POST', '/api/admin/users', { ...editor, roles: ['editor'] }));
  const gone = await must<{ id: string }>(
    asOwner('POST', '/api/admin/users', {
      email: 'gone@fixture.test',
      password: 'Fixture-Gone-Password-1',
      roles: ['viewer'],
    }),
  );
  await must(asOwner('DELETE', `/api/admin/users/${gone.id}`));
  const { raw_key: key } = await must<{ raw_key: string }>(
    asOwner('POST', '/api/admin/api-keys', {
      name: 'of the fixture',
      roles: ['editor'],
      scopes: ['content:*', 'schemas:read'],
    }),
  );
  const revoked = await must<{ id: string; raw_key: string }>(
    asOwner('POST', '/api/admin/api-keys', { name: 'revoked', roles: ['viewer'], scopes: ['content:read'] }),
  );
  await must(asOwner('POST', `/api/admin/api-keys/${revoked.id}/revoke`));

  await must(
    asOwner('POST', '/api/admin/schemas', {
      name: 'person',
      fields: [{ name: 'name', field_type: 'text', unique: true }],
    }),
  );
  await must(
    asOwner('POST', '/api/admin/schemas', {
      name: 'article',
      display_name: 'Articles',
      with_draft_publish: true,
      with_soft_delete: true,
      fields: FIELDS,
    }),
  );
  // Without drafts, so that lists show the entries.
  await must(asOwner('POST', '/api/admin/schemas', { name: 'page', fields: FIELDS }));
  await must(
    asOwner('POST', '/api/admin/schemas', { name: 'passing', fields: [{ name: 'n', field_type: 'integer' }] }),
  );
  const webhook = await must<{ id: string }>(
    asOwner('POST', '/api/admin/webhooks', {
      name: 'of the fixture',
      url: `${receiverUrl}/hook`,
      secret: SECRET,
      events: ['after_create', 'after_update', 'after_delete'],
      schemas: ['article'],
      headers: { 'X-Token': 'sealed', 'X-Plain': 'shown' },
    }),
  );

  const withKey: Call = (method, path, body, headers) => content(method, path, body, { 'x-api-key': key, ...headers });
  const make = async (schema: string, data: object) =>
    (await must<{ id: string }>(withKey('POST', `/api/v1/content/${schema}`, { data }))).id;
  const people = [await make('person', { name: 'Ada' }), await make('person', { name: 'Émile ☕' })];
  const valuesOf = (n: number) => ({
    title: `Number ${String(n)}`,
    body: `<p>Words of ${String(n)} — “quoted”, \\ and ' and $1</p>`,
    link: `https://example.org/${String(n)}`,
    contact: `reader${String(n)}@example.org`,
    handle: `article-${String(n)}`,
    score: n / 3,
    stock: n,
    price: `${String(n)}.10`,
    day: `2026-01-${String(n + 1).padStart(2, '0')}`,
    moment: '2026-11-20T12:00:00.123Z',
    hour: '12:34:56.789',
    reference: '0190a0a0-0000-7000-8000-000000000001',
    extra: { nested: [1, null, 'two', { deep: true }] },
    picture: null,
    author: people[n % 2],
  });
  const articles: string[] = [];
  for (let n = 0; n < 10; n += 1) articles.push(await make('article', valuesOf(n)));
  const pages: string[] = [];
  for (let n = 0; n < 20; n += 1) pages.push(await make('page', valuesOf(n)));
  await must(withKey('DELETE', `/api/v1/content/page/${pages.at(-1) ?? ''}`));
  const [first = '', second = '', third = '', fourth = ''] = articles;
  for (let n = 0; n < 5; n += 1)
    await must(
      withKey('PUT', `/api/v1/content/article/${first}`, { data: { title: `First, ${String(n)}`, stock: n } }),
    );
  const revisions = await must<readonly { id: string }[]>(withKey('GET', `/api/v1/content/article/${first}/revisions`));
  await must(withKey('PUT', `/api/v1/content/article/${first}/revisions/${revisions.at(-1)?.id ?? ''}/restore`));
  // Its unique values are released, and other entries take them.
  await must(withKey('PUT', `/api/v1/content/article/${second}`, { data: { price: '1000.01' } }));
  await must(withKey('PUT', `/api/v1/content/article/${first}`, { data: { price: '1.10' } }));
  await must(withKey('DELETE', `/api/v1/content/article/${third}`));
  await must(withKey('POST', '/api/v1/content/passing/bulk', { entries: [{ data: { n: 1 } }, { data: { n: 2 } }] }));
  // Change content types that have entries: add a field, remove a field, delete a type.
  await must(
    asOwner('POST', '/api/admin/schemas', {
      name: 'article',
      display_name: 'Articles',
      with_draft_publish: true,
      with_soft_delete: true,
      fields: [...FIELDS.filter(({ name }) => name !== 'picture'), { name: 'teaser', field_type: 'text' }],
    }),
  );
  await must(
    withKey('PUT', `/api/v1/content/article/${fourth}`, { data: { teaser: 'came later', handle: 'renamed-handle' } }),
  );
  await must(asOwner('DELETE', '/api/admin/schemas/passing'));
  await must(
    asOwner('PUT', `/api/admin/webhooks/${webhook.id}`, {
      name: 'of the fixture',
      url: `${receiverUrl}/hook`,
      enabled: false,
      events: ['after_create'],
      schemas: ['article'],
      headers: { 'X-Token': '[redacted]', 'X-Plain': 'shown' },
    }),
  );

  const reads: readonly Omit<Expectation, 'body'>[] = [
    ...[
      ...people.map((id) => `person/${id}`),
      ...articles.filter((id) => id !== third).map((id) => `article/${id}`),
      ...pages.slice(0, 3).map((id) => `page/${id}`),
    ].map((path) => ({ api: 'content', as: 'key', path: `/api/v1/content/${path}` }) as const),
    { api: 'content', as: 'key', path: '/api/v1/content/page?sort=-stock&limit=50' },
    {
      api: 'content',
      as: 'key',
      path: `/api/v1/content/page?filters[author][$eq]=${people[0] ?? ''}&filters[price][$gt]=5&sort=title`,
    },
    { api: 'content', as: 'key', path: `/api/v1/content/article/${first}/revisions` },
    { api: 'content', as: 'key', path: '/api/v1/schemas/article' },
    { api: 'admin', as: 'owner', path: '/api/admin/users' },
    { api: 'admin', as: 'owner', path: '/api/admin/webhooks' },
    { api: 'admin', as: 'owner', path: `/api/admin/webhooks/${webhook.id}/deliveries?limit=5` },
    { api: 'admin', as: 'owner', path: '/api/admin/api-keys' },
  ];
  const expectations: Expectation[] = [];
  for (const read of reads) {
    const reply = read.api === 'content' ? await withKey('GET', read.path) : await asOwner('GET', read.path);
    if (reply.status !== 200) throw new Error(`${read.path}: ${String(reply.status)} ${reply.text}`);
    expectations.push({ ...read, body: reply.json() });
  }
  return {
    owner,
    editor,
    key,
    revokedKey: revoked.raw_key,
    webhook: { id: webhook.id, secret: SECRET, schema: 'article' },
    taken: { schema: 'article', data: { title: 'another', handle: 'article-5', price: '99999' } },
    expectations,
  };
}

async function must<T = unknown>(sent: ReturnType<Call>): Promise<T> {
  const reply = await sent;
  if (reply.status >= 300) throw new Error(`${String(reply.status)}: ${reply.text}`);
  return (reply.text === '' ? undefined : reply.json()) as T;
}

import { expect } from 'chai';
import { openEventSource } from '../support/event-source.ts';
import { eventually } from '../support/eventually.ts';
import { type Call, caller, statusAndError } from '../support/http.ts';
import { OWNER } from '../support/owner.ts';
import { useService } from '../support/service.ts';

type Entry = { readonly id: string; readonly slug?: string };

const SLUG = 'merger-with-acme';
const DENIED = [403, 'permission denied'];

describe('the slug of an entry whose title is masked', () => {
  const service = useService();
  let admin: Call;
  let content: Call;
  let authorization = '';
  let secret = '';
  let link = '';

  before(async () => {
    const made = async <T = Entry>(path: string, body: object): Promise<T> => {
      const reply = await service.owner('POST', path, body);
      expect(reply.status, reply.text).to.be.oneOf([200, 201]);
      return reply.json<T>();
    };
    await made('/api/admin/schemas', {
      name: 'deal',
      fields: [
        { name: 'title', field_type: 'text' },
        { name: 'note', field_type: 'text' },
      ],
      with_soft_delete: true,
    });
    await made('/api/admin/schemas', {
      name: 'link',
      fields: [
        { name: 'title', field_type: 'text' },
        { name: 'deal', field_type: 'relation', relation_to: 'deal', relation_type: 'belongs_to' },
      ],
    });
    await made('/api/admin/permissions', {
      role: 'editor',
      schema_name: 'deal',
      actions: ['*'],
      field_mask: ['title'],
    });
    const entry = { schema_name: 'deal', data: { title: 'Merger with ACME', note: 'shown' } };
    const { id, slug } = await made('/api/admin/content', entry);
    expect(slug).to.equal(SLUG);
    secret = id;
    const linked = await made('/api/admin/content', { schema_name: 'link', data: { title: 'Shown', deal_id: secret } });
    link = linked.id;
    const who = { email: 'editor@palimpsest.test', password: OWNER.password };
    await made('/api/admin/users', { ...who, roles: ['editor'] });
    const { token } = (await service.admin('POST', '/api/admin/auth/login', who)).json<{ token: string }>();
    authorization = `Bearer ${token}`;
    admin = caller(() => service.service().adminUrl, { authorization });
    content = caller(() => service.service().contentUrl, { authorization });
  });

  it('is absent from every response to a read', async () => {
    const moment = new Date().toISOString();
    const reads: readonly (readonly [Call, string])[] = [
      [content, '/api/v1/content/deal'],
      [content, '/api/v1/content/deal/cursor'],
      [content, `/api/v1/content/deal/${secret}`],
      [content, `/api/v1/content/deal?as_of=${moment}`],
      [content, `/api/v1/content/deal/${secret}?as_of=${moment}`],
      [content, `/api/v1/content/deal/${secret}/revisions`],
      [content, `/api/v1/content/deal/${secret}/revisions/1`],
      [content, `/api/v1/content/deal/${secret}/blame`],
      [content, '/api/v1/content/deal/changes'],
      [content, '/api/v1/content/link?populate=deal'],
      [content, `/api/v1/content/link/${link}?populate=*&depth=3`],
      [content, `/api/v1/content/link/${link}?populate=deal&as_of=${moment}`],
      [content, `/api/v1/content/link/${link}/relations/deal`],
      [admin, '/api/admin/content'],
      [admin, '/api/admin/content?schema=deal'],
      [admin, `/api/admin/content/${secret}`],
    ];
    for (const [call, path] of reads) {
      const reply = await call('GET', path);
      expect(reply.status, `${path}: ${reply.text}`).to.equal(200);
      expect(reply.text, path).to.match(new RegExp(`${secret}|note`));
      expect(reply.text.toLowerCase(), path).to.not.contain('merger');
    }
    const shown = (await admin('GET', `/api/admin/content/${secret}`)).json();
    expect(shown).to.deep.include({ title: null, slug: null });
    const owner = (await service.ownerContent('GET', `/api/v1/content/deal/${secret}`)).json<Entry>();
    expect(owner.slug, 'an admin sees it').to.equal(SLUG);
  });

  it('is absent from the live changes', async () => {
    const source = await openEventSource(`${service.service().contentUrl}/api/v1/content/deal/changes`, {
      authorization,
    });
    try {
      await eventually(() => {
        expect(source.raw()).to.contain(secret);
      });
      expect(source.raw().toLowerCase()).to.not.contain('merger');
    } finally {
      source.close();
    }
  });

  it('counts as unknown in filters, in the order and in `fields`', async () => {
    for (const [query, parameter] of [
      [`filters[slug]=${SLUG}`, 'filters[slug]'],
      [`filters[_slug]=${SLUG}`, 'filters[_slug]'],
      ['filters[_slug][$startsWith]=m', 'filters[_slug]'],
      ['sort=slug', 'sort'],
      ['sort=-_slug', 'sort'],
      ['fields=note,slug', 'fields'],
    ] as const)
      for (const path of ['/api/v1/content/deal', '/api/v1/content/deal/cursor'])
        expect(statusAndError(await content('GET', `${path}?${query}`)), query).to.deep.equal([
          400,
          `invalid query parameter: ${parameter}`,
        ]);
    const found = await content('GET', '/api/v1/content/link?filters[_slug]=shown&sort=slug&fields=slug');
    expect(
      found.json<Entry[]>().map(({ id }) => id),
      'of a type without a mask',
    ).to.deep.equal([link]);
  });

  it('is not found by search or look-up', async () => {
    for (const path of ['/api/v1/content/deal?q=merger', `/api/v1/content/deal?q=${SLUG}`])
      expect((await content('GET', path)).json(), path).to.deep.equal([]);
    for (const query of ['', '?schema=deal'])
      expect(statusAndError(await admin('GET', `/api/admin/content/slug/${SLUG}${query}`))).to.deep.equal([
        404,
        'content not found',
      ]);
    expect((await admin('GET', `/api/admin/content?q=${SLUG}`)).json<{ total: number }>().total).to.equal(0);
    expect((await service.owner('GET', `/api/admin/content/slug/${SLUG}`)).json<Entry>().id).to.equal(secret);
  });

  it('cannot be written, so that a refusal does not show whether another entry has it', async () => {
    const create = (slug: string) => admin('POST', '/api/admin/content', { schema_name: 'deal', data: {}, slug });
    expect(statusAndError(await create(SLUG))).to.deep.equal(DENIED);
    expect(statusAndError(await create('another'))).to.deep.equal(DENIED);
    expect(statusAndError(await admin('PUT', `/api/admin/content/${secret}`, { slug: 'another' }))).to.deep.equal(
      DENIED,
    );
    const saved = await admin('PUT', `/api/admin/content/${secret}`, { data: { note: 'changed' }, slug: '' });
    expect([saved.status, saved.json()['slug']], 'a form with an empty field').to.deep.equal([200, null]);
    const updated = await content('PUT', `/api/v1/content/deal/${secret}`, { data: { note: 'again' } });
    expect(updated.json()).to.not.have.property('slug');
  });
});

import { expect } from 'chai';
import { openPostgresEventStore } from '../../infrastructure/event-store/postgres/postgres-event-store.ts';
import { contentProjection } from '../../projections/content/projection.ts';
import { digest } from '../../projections/engine/digest.ts';
import { replay } from '../../projections/engine/replay.ts';
import { useDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { type Call, statusAndError } from '../support/http.ts';
import { useService } from '../support/service.ts';

type Entry = {
  readonly id: string;
  readonly version: number;
  readonly updated_at: string;
  readonly resolved_locale?: string;
  readonly data: Readonly<Record<string, unknown>>;
};
type Page = { readonly data: readonly Entry[]; readonly next_cursor: string };

const NOTE = {
  name: 'note',
  fields: [
    { name: 'title', field_type: 'text', indexed: true },
    { name: 'body', field_type: 'rich_text' },
    { name: 'link', field_type: 'url' },
    { name: 'n', field_type: 'integer' },
    { name: 'secret', field_type: 'text' },
  ],
};

describe('search, time travel, cursors and locales of lists over HTTP', () => {
  const service = useService();
  const fresh = useDatabase();
  let editor: Call;
  let guest: Call;
  const notes: Record<string, Entry> = {};

  const titles = async (call: Call, query: string): Promise<unknown[]> => {
    const answer = await call('GET', `/api/v1/content/note?sort=title&${query}`);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json<Entry[]>().map(({ data }) => data['title']);
  };
  const refused = async (path: string) => statusAndError(await editor('GET', path));
  const schema = async (name: string, body: object): Promise<void> => {
    const there = (await service.owner('GET', `/api/admin/schemas/${name}`)).status === 200;
    const answer = await service.owner(there ? 'PUT' : 'POST', `/api/admin/schemas${there ? `/${name}` : ''}`, body);
    expect(answer.status, answer.text).to.equal(200);
  };
  const write = async (method: string, path: string, data?: object): Promise<Entry> => {
    const answer = await editor(method, `/api/v1/content/${path}`, data && { data });
    expect(answer.status, answer.text).to.be.within(200, 204);
    return answer.status === 204 ? ({} as Entry) : answer.json<Entry>();
  };
  /** A time after all earlier writes and before all later writes. */
  const moment = async (): Promise<string> => {
    const now = new Date().toISOString();
    await eventually(() => Date.now() > Date.parse(now) || undefined);
    return now;
  };

  before(async () => {
    await schema('note', NOTE);
    for (const role of ['editor', 'guest']) {
      const body = {
        role,
        schema_name: 'note',
        actions: ['read', 'create', 'update', 'delete'],
        field_mask: role === 'guest' ? ['secret'] : [],
      };
      const answer = await service.owner('POST', '/api/admin/permissions', body);
      expect(answer.status, answer.text).to.equal(200);
    }
    editor = await service.key({});
    guest = await service.key({ roles: ['guest'] });
    for (const data of [
      {
        title: 'A Winter Walk',
        body: '<p class="lede">Snow &amp; silence over the Grossglockner</p>',
        n: 1,
        secret: 'treasure',
      },
      { title: 'B Summer', body: 'heat, winter is far', link: 'https://example.com/winterreise', n: 2 },
      {
        title: 'C Ünïcode ЁЖИК',
        body: '<b>stroll</b>ing <i title="hidden attribute">about</i>',
        n: 3,
        secret: 'winter',
      },
      { title: 'D nothing', n: 4 },
    ])
      notes[data.title.slice(0, 1)] = await write('POST', 'note', data);
  });

  describe('q', () => {
    it('finds entries that contain all words in text and rich_text fields, in any case and order', async () => {
      expect(await titles(editor, 'q=winter')).to.deep.equal(['A Winter Walk', 'B Summer', 'C Ünïcode ЁЖИК']);
      expect(await titles(editor, 'q=WALK%20winter')).to.deep.equal(['A Winter Walk']);
      expect(await titles(editor, `q=${encodeURIComponent('ёжик')}`)).to.deep.equal(['C Ünïcode ЁЖИК']);
      expect(await titles(editor, 'q=wint')).to.deep.equal([]);
      expect(await titles(editor, 'q=winterreise')).to.deep.equal([]);
    });

    it('supports phrases, `or` and excluded words', async () => {
      expect(await titles(editor, `q=${encodeURIComponent('"winter is far"')}`)).to.deep.equal(['B Summer']);
      expect(await titles(editor, `q=${encodeURIComponent('"far winter"')}`)).to.deep.equal([]);
      expect(await titles(editor, 'q=heat%20or%20snow')).to.deep.equal(['A Winter Walk', 'B Summer']);
      expect(await titles(editor, 'q=winter%20-snow')).to.deep.equal(['B Summer', 'C Ünïcode ЁЖИК']);
    });

    it('does not find markup', async () => {
      for (const word of ['lede', 'class', 'amp', 'hidden', 'p'])
        expect(await titles(editor, `q=${word}`), word).to.deep.equal([]);
      expect(await titles(editor, 'q=silence')).to.deep.equal(['A Winter Walk']);
    });

    it('does not search masked fields, and does not reveal their content by excluded words', async () => {
      expect(await titles(guest, 'q=treasure')).to.deep.equal([]);
      expect(await titles(guest, 'q=winter')).to.deep.equal(['A Winter Walk', 'B Summer']);
      expect(await titles(guest, 'q=-winter')).to.deep.equal(['C Ünïcode ЁЖИК', 'D nothing']);
      expect(await titles(editor, 'q=-winter')).to.deep.equal(['D nothing']);
      // Two entries differ only in a masked field. A caller without access to that field finds both or none. The masked
      // field is between the other two in the field order.
      await schema('veiled', {
        name: 'veiled',
        fields: ['title', 'secret', 'end'].map((name) => ({ name, field_type: 'text' })),
      });
      for (const role of ['editor', 'guest'])
        await service.owner('POST', '/api/admin/permissions', {
          role,
          schema_name: 'veiled',
          actions: ['*'],
          ...(role === 'guest' ? { field_mask: ['secret'] } : {}),
        });
      for (const secret of [null, '', 'gold under stones'])
        await write('POST', 'veiled', { title: 'first word', secret, end: 'last word' });
      const count = async (call: Call, q: string) =>
        (await call('GET', `/api/v1/content/veiled?q=${encodeURIComponent(q)}`)).json<Entry[]>().length;
      for (const [q, masked, all] of [
        ['word', 3, 3],
        ['gold', 0, 1],
        ['gold or first', 3, 3],
        ['-gold', 3, 2],
        ['first -gold', 3, 2],
        ['first -last', 0, 0],
        ['word -first or last', 3, 3],
        ['"word last"', 3, 2],
        ['"word last" -gold', 3, 2],
        ['"word gold"', 0, 1],
        ['-"word last"', 0, 1],
        ['first or -gold', 3, 3],
        ['"first word" -stones', 3, 2],
        ['!!!', 0, 0],
        ['-', 0, 0],
      ] as const)
        expect([q, await count(guest, q), await count(editor, q)]).to.deep.equal([q, masked, all]);
    });

    it('can be combined with filters, field selection, counts and cursors', async () => {
      expect(await titles(editor, 'q=winter&filters[n][$gt]=1')).to.deep.equal(['B Summer', 'C Ünïcode ЁЖИК']);
      const answer = await editor('GET', '/api/v1/content/note?q=winter&limit=1&count=true&fields=title');
      expect([
        answer.headers['x-total-count'],
        answer.json<Entry[]>().map(({ data }) => Object.keys(data)),
      ]).to.deep.equal(['3', [['title']]]);
      const found: unknown[] = [];
      for (let cursor = ''; ;) {
        const page = (
          await editor('GET', `/api/v1/content/note/cursor?q=winter&sort=title&limit=2&cursor=${cursor}`)
        ).json<Page>();
        found.push(...page.data.map(({ data }) => data['title']));
        if (page.next_cursor === '') break;
        cursor = page.next_cursor;
      }
      expect(found).to.deep.equal(['A Winter Walk', 'B Summer', 'C Ünïcode ЁЖИК']);
    });

    it('accepts any text up to 500 characters; blank text is no search, and text without words finds nothing', async () => {
      expect(await titles(editor, 'q=%20')).to.have.length(4);
      for (const text of ['!!!', '"', '&|!()<->:*', "'; drop table x; --", '-', 'or', '\\', '"zz'.repeat(100)])
        expect(await titles(editor, `q=${encodeURIComponent(text)}`), text).to.deep.equal([]);
      expect(await refused(`/api/v1/content/note?q=${'x'.repeat(501)}`)).to.deep.equal([
        400,
        'invalid query parameter: q',
      ]);
    });

    it('finds current values after updates and after fields are added, removed, renamed and converted', async () => {
      await write('PUT', `note/${notes['D']?.id}`, { body: 'brand new thing' });
      expect(await titles(editor, 'q=brand')).to.deep.equal(['D nothing']);
      await write('PUT', `note/${notes['D']?.id}`, { n: 5 });
      expect(await titles(editor, 'q=brand')).to.deep.equal(['D nothing']);
      const fields = (await service.owner('GET', '/api/admin/schemas/note')).json<{
        fields: { name: string; field_type: string }[];
      }>().fields;
      const change = (edit: (field: { name: string; field_type: string }) => object[]) =>
        schema('note', { ...NOTE, fields: fields.flatMap(edit) });
      // Convert the field to a type that is not searched, and back.
      await change((field) => [field.name === 'body' ? { ...field, field_type: 'url' } : field]);
      expect(await titles(editor, 'q=brand')).to.deep.equal([]);
      expect(await titles(editor, 'q=nothing')).to.deep.equal(['D nothing']);
      await change((field) => [field]);
      expect(await titles(editor, 'q=brand')).to.deep.equal(['D nothing']);
      // A number is found after its field is converted to text.
      await change((field) => [field.name === 'n' ? { ...field, field_type: 'text' } : field]);
      expect(await titles(editor, 'q=5')).to.deep.equal(['D nothing']);
      await change((field) => [field]);
      expect(await titles(editor, 'q=5')).to.deep.equal([]);
      expect(
        (await service.owner('PUT', '/api/admin/schemas/note/fields/body/rename', { new_name: 'text' })).status,
      ).to.equal(200);
      expect(await titles(editor, 'q=brand')).to.deep.equal(['D nothing']);
      await write('PUT', `note/${notes['D']?.id}`, { text: 'brand another' });
      expect(await titles(editor, 'q=another')).to.deep.equal(['D nothing']);
      expect(
        (await service.owner('PUT', '/api/admin/schemas/note/fields/text/rename', { new_name: 'body' })).status,
      ).to.equal(200);
      await change((field) => (field.name === 'secret' ? [] : [field]));
      expect(await titles(editor, 'q=treasure')).to.deep.equal([]);
      expect(await titles(editor, 'q=snow')).to.deep.equal(['A Winter Walk']);
    });

    it('does not find purged entries', async () => {
      const memo = { name: 'memo', with_soft_delete: true, fields: [{ name: 'text', field_type: 'text' }] };
      await schema('memo', memo);
      await service.owner('POST', '/api/admin/permissions', { role: 'editor', schema_name: 'memo', actions: ['*'] });
      const { id } = await write('POST', 'memo', { text: 'confidential' });
      await write('DELETE', `memo/${id}`);
      const kept = async () =>
        (await service.database.db().query('select 1 from rm_content._search where entry_id = $1', [id])).length;
      expect(await kept()).to.equal(1);
      await schema('memo', { ...memo, with_soft_delete: false });
      const applied = await service.owner('POST', '/api/admin/schemas/memo/apply-pending', {});
      expect(applied.status, applied.text).to.equal(200);
      expect(await kept()).to.equal(0);
    });

    it('finds the same entries after a rebuild from the log', async () => {
      const database = service.database.db();
      const eventStore = await openPostgresEventStore({ database });
      const { tables } = await replay({ to: fresh.db(), eventStore, projections: [contentProjection] });
      await eventStore.close();
      const live = await digest({ database, projection: contentProjection });
      expect(tables.map(({ table, rows, checksum }) => ({ table, rows, checksum }))).to.deep.equal(live.tables);
      expect(live.tables.find(({ table }) => table === 'note')?.rows).to.equal(4);
    });
  });

  describe('as_of', () => {
    it('lists past values under the current names and rules, with related entries of the same time', async () => {
      await schema('person', { name: 'person', fields: [{ name: 'name', field_type: 'text' }] });
      await schema('story', {
        name: 'story',
        fields: [
          { name: 'title', field_type: 'text' },
          { name: 'words', field_type: 'text' },
          { name: 'author', field_type: 'relation', relation_type: 'belongs_to', relation_to: 'person' },
        ],
      });
      await service.owner('POST', '/api/admin/permissions', { role: 'editor', schema_name: '*', actions: ['*'] });
      const person = await write('POST', 'person', { name: 'Ada' });
      const kept = await write('POST', 'story', { title: 'kept', words: '12', author_id: person.id });
      const gone = await write('POST', 'story', { title: 'gone', words: 'many', author_id: person.id });
      const then = await moment();
      await write('PUT', `person/${person.id}`, { name: 'Ada Lovelace' });
      await write('PUT', `story/${kept.id}`, { title: 'changed' });
      await write('DELETE', `story/${gone.id}`);
      await write('POST', 'story', { title: 'later' });
      expect(
        (await service.owner('PUT', '/api/admin/schemas/story/fields/title/rename', { new_name: 'headline' })).status,
      ).to.equal(200);
      const found = (await service.owner('GET', '/api/admin/schemas/story')).json<{ fields: { name: string }[] }>();
      await schema('story', {
        name: 'story',
        fields: found.fields.map((field) => (field.name === 'words' ? { ...field, field_type: 'integer' } : field)),
      });

      const list = async (query: string) => {
        const answer = await editor('GET', `/api/v1/content/story?sort=headline&${query}`);
        expect(answer.status, answer.text).to.equal(200);
        return { total: answer.headers['x-total-count'], entries: answer.json<Entry[]>().map(({ data }) => data) };
      };
      const { total, entries } = await list(`as_of=${then}&populate=author&count=true`);
      expect(total).to.equal('2');
      expect(
        entries.map(({ headline, words, author }) => [headline, words, (author as Entry | null)?.data]),
      ).to.deep.equal([
        ['gone', null, { name: 'Ada' }],
        ['kept', 12, { name: 'Ada' }],
      ]);
      expect((await list(`as_of=${then}&q=kept&fields=headline`)).entries).to.deep.equal([{ headline: 'kept' }]);
      expect((await list(`as_of=${then}&filters[headline]=gone`)).entries).to.have.length(1);
      expect((await list('')).entries.map(({ headline }) => headline)).to.deep.equal(['changed', 'later']);
      const single = await editor('GET', `/api/v1/content/story/${kept.id}?as_of=${then}&populate=author`);
      expect(single.json<Entry>().data).to.deep.include({ headline: 'kept', words: 12 });
      expect((single.json<Entry>().data['author'] as Entry).data).to.deep.equal({ name: 'Ada' });
      // The time is inclusive: at the time of a change, the change is visible.
      expect((await list(`as_of=${kept.updated_at}`)).entries.map(({ headline }) => headline)).to.include('kept');
    });

    it('pages by cursor at that time, and refuses the cursor with another time', async () => {
      const then = await moment();
      const first = (await editor('GET', `/api/v1/content/note/cursor?as_of=${then}&sort=title&limit=1`)).json<Page>();
      await write('PUT', `note/${notes['B']?.id}`, { title: 'Z at last' });
      const rest = (
        await editor('GET', `/api/v1/content/note/cursor?as_of=${then}&sort=title&cursor=${first.next_cursor}`)
      ).json<Page>();
      expect([...first.data, ...rest.data].map(({ data }) => String(data['title']).slice(0, 1))).to.deep.equal([
        'A',
        'B',
        'C',
        'D',
      ]);
      const other = new Date(Date.parse(then) - 1).toISOString();
      for (const query of [`as_of=${other}&`, ''])
        expect(
          await refused(`/api/v1/content/note/cursor?${query}sort=title&cursor=${first.next_cursor}`),
        ).to.deep.equal([400, 'invalid query parameter: cursor']);
    });

    it('refuses future times and text that is not a time', async () => {
      for (const path of ['', '/cursor', `/${notes['A']?.id}`]) {
        for (const bad of ['2999-01-01T00:00:00Z', 'yesterday', '', '2026-13-01T00:00:00Z'])
          expect(await refused(`/api/v1/content/note${path}?as_of=${bad}`), `${path} ${bad}`).to.deep.equal([
            400,
            'invalid query parameter: as_of',
          ]);
      }
    });
  });

  describe('a cursor', () => {
    it('keeps the order of the first page, shows current values, and omits deleted entries', async () => {
      const all = (await editor('GET', '/api/v1/content/note?sort=title')).json<Entry[]>();
      const first = (await editor('GET', '/api/v1/content/note/cursor?sort=title&limit=1')).json<Page>();
      const [shown, next, moved, deleted] = all;
      await write('PUT', `note/${shown?.id}`, { title: 'zz shown already' });
      await write('PUT', `note/${moved?.id}`, { title: '00 moved before' });
      await write('DELETE', `note/${deleted?.id}`);
      const rest = (
        await editor('GET', `/api/v1/content/note/cursor?sort=title&cursor=${first.next_cursor}`)
      ).json<Page>();
      expect(rest.data.map(({ id, data }) => [id, data['title']])).to.deep.equal([
        [next?.id, next?.data['title']],
        [moved?.id, '00 moved before'],
      ]);
      expect(rest.next_cursor).to.equal('');
    });

    it('comes with each full page, and a limit over 1000 gives 20 entries', async () => {
      await editor('POST', '/api/v1/content/note/bulk', {
        entries: Array.from({ length: 37 }, (_, n) => ({ data: { title: `bulk ${n}`, n } })),
      });
      const pages: number[] = [];
      for (let cursor = ''; ;) {
        const answer = await editor('GET', `/api/v1/content/note/cursor?limit=1001&count=true&cursor=${cursor}`);
        const page = answer.json<Page>();
        expect(answer.headers['x-total-count']).to.equal('40');
        pages.push(page.data.length);
        if (page.next_cursor === '') break;
        cursor = page.next_cursor;
      }
      expect(pages).to.deep.equal([20, 20, 0]);
    });
  });

  describe('locale', () => {
    const paths = (): readonly string[] => [
      '/api/v1/content/note?limit=1',
      '/api/v1/content/note/cursor?limit=1',
      `/api/v1/content/note/${notes['A']?.id}?fields=title`,
      `/api/v1/content/note/${notes['A']?.id}?as_of=${new Date().toISOString()}`,
    ];
    const resolved = (text: string): unknown => {
      const body = JSON.parse(text) as Entry | readonly Entry[] | Page;
      if (Array.isArray(body)) return (body as readonly Entry[])[0]?.resolved_locale;
      return 'next_cursor' in body ? body.data[0]?.resolved_locale : (body as Entry).resolved_locale;
    };

    it('serves the source for the default locale, and sends Vary for Accept-Language', async () => {
      for (const path of paths()) {
        const asked = await editor('GET', `${path}&locale=fr-CA`);
        expect([asked.status, resolved(asked.text), asked.headers['vary']], path).to.deep.equal([
          200,
          'en',
          'Origin, Accept-Language',
        ]);
        const accepted = await editor('GET', path, undefined, { 'accept-language': 'de-AT,de;q=0.8,*;q=0.1' });
        expect(resolved(accepted.text), path).to.equal('en');
        const none = await editor('GET', path);
        expect([resolved(none.text), none.headers['vary']], path).to.deep.equal([undefined, 'Origin, Accept-Language']);
      }
    });

    it('accepts any Accept-Language, and ignores one without a language', async () => {
      for (const header of ['*', '', ';;;q=,', 'fr;q=0', 'x'.repeat(3000), 'no_tag_at_all']) {
        const answer = await editor('GET', paths()[0] ?? '', undefined, { 'accept-language': header });
        expect([answer.status, resolved(answer.text)], header).to.deep.equal([200, undefined]);
      }
    });

    it('refuses a locale that is not a language tag', async () => {
      for (const path of paths())
        for (const bad of ['', '*', 'f', 'fr_CA', 'français', 'en-', '12'])
          expect(await refused(`${path}&locale=${encodeURIComponent(bad)}`), bad).to.deep.equal([
            400,
            'invalid query parameter: locale',
          ]);
    });
  });
});

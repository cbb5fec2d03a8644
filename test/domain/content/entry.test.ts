import { expect } from 'chai';
import { changeEntry, createEntry, deleteEntry, ENTRY_MOVES, entryDecider, moveEntry, undeleteEntry } from '../../../domain/content/entry.ts';
import type { EntryCommand, EntryFact } from '../../../domain/content/entry.ts';
import type { EntryState } from '../../../domain/content/entry-state.ts';
import { testType } from '../../support/content.ts';

const type = testType({
  name: 'article',
  with_draft_publish: true,
  fields: [{ name: 'title', field_type: 'text', required: true }, { name: 'views', field_type: 'integer', default: 0 }, { name: 'tags', field_type: 'json' }],
});
const plain = testType({ name: 'note', fields: [{ name: 'text', field_type: 'text' }] });

function command(at = '2026-01-01T00:00:00.000Z', of = type): EntryCommand {
  return { entryId: 'e1', typeId: of.id, typeRevision: of.revision, definition: of.definition, actor: { kind: 'user', id: 'u1' }, at };
}

/** The entry after some decisions in order. */
function given(...decisions: readonly ((state: EntryState | undefined) => readonly EntryFact[])[]): EntryState | undefined {
  return decisions.reduce<EntryState | undefined>((state, decide) => decide(state).reduce(entryDecider.evolve, state), entryDecider.initialState());
}

const created = (state: EntryState | undefined) => createEntry(state, { ...command(), data: { title: 'One' } });
const published = (state: EntryState | undefined) => moveEntry(state, { ...command('2026-01-02T00:00:00.000Z'), move: 'publish' });
const deleted = (state: EntryState | undefined) => deleteEntry(state, command('2026-01-03T00:00:00.000Z'));
const types = (facts: readonly EntryFact[]) => facts.map((fact) => fact.type);

describe('entry', () => {
  it('creates a draft where the type has draft and publish, with defaults filled in', () => {
    const [fact] = created(undefined);
    expect(fact).to.deep.include({ type: 'EntryCreated', entryId: 'e1', at: '2026-01-01T00:00:00.000Z' });
    expect(fact?.data).to.deep.equal({ type_id: type.id, schema: 'article', type_revision: 0, fields: { title: 'One', views: 0 }, status: 'draft' });
    expect(given(created)).to.include({ version: 1, status: 'draft', publishedAt: undefined, deleted: false });
  });

  it('creates a published entry where the type has no draft and publish', () => {
    expect(given((state) => createEntry(state, { ...command(undefined, plain), data: { text: 'x' } }))).to.include({ status: 'published', publishedAt: '2026-01-01T00:00:00.000Z' });
  });

  it('refuses a new entry without a required field', () => {
    expect(() => createEntry(undefined, { ...command(), data: {} })).to.throw().that.deep.includes({ code: 'validation_failed', fields: [{ field: 'title', message: 'is required' }] });
  });

  it('writes only the fields that differ', () => {
    const [fact] = changeEntry(given(created), { ...command('2026-01-05T00:00:00.000Z'), data: { title: 'Two', views: 0 } });
    expect(fact?.data).to.deep.include({ fields: { title: 'Two' } });
  });

  it('decides nothing for an update that changes nothing, json in another order of keys included', () => {
    const state = given(created, (entry) => changeEntry(entry, { ...command(), data: { tags: { a: 1, b: [1] } } }));
    expect(changeEntry(state, { ...command(), data: { title: 'One', tags: { b: [1], a: 1 } } })).to.deep.equal([]);
  });

  it('fills in no default on update', () => {
    const state = given(created, (entry) => changeEntry(entry, { ...command(), data: { views: null } }));
    expect(state?.fields).to.deep.equal({ title: 'One', views: null });
  });

  it('publishes a draft and takes a published entry back', () => {
    expect(given(created, published)).to.include({ status: 'published', publishedAt: '2026-01-02T00:00:00.000Z', version: 2 });
    expect(given(created, published, (state) => moveEntry(state, { ...command(), move: 'unpublish' }))).to.include({ status: 'draft', publishedAt: undefined, version: 3 });
  });

  const archived = (state: EntryState | undefined) => moveEntry(state, { ...command(), move: 'archive' });
  for (const { from, decisions, allowed } of [
    { from: 'draft', decisions: [created], allowed: { publish: 'published', archive: 'archived' } },
    { from: 'published', decisions: [created, published], allowed: { unpublish: 'draft', archive: 'archived' } },
    { from: 'archived', decisions: [created, published, archived], allowed: { unarchive: 'draft' } },
  ] as const) {
    for (const move of ENTRY_MOVES) {
      const to = (allowed as Partial<Record<string, string>>)[move];
      it(to === undefined ? `refuses to ${move} from ${from}` : `moves from ${from} to ${to} by ${move}`, () => {
        const state = given(...decisions);
        const act = () => moveEntry(state, { ...command('2026-01-04T00:00:00.000Z'), move });
        if (to === undefined) expect(act).to.throw().with.property('code', 'invalid_status_transition');
        else expect(act().reduce(entryDecider.evolve, state)).to.include({ status: to, publishedAt: to === 'published' ? '2026-01-04T00:00:00.000Z' : undefined });
      });
    }
  }

  it('moves no entry of a type without draft and publish, and no deleted one', () => {
    const note = given((state) => createEntry(state, { ...command(undefined, plain), data: {} }));
    for (const move of ENTRY_MOVES) {
      expect(() => moveEntry(note, { ...command(undefined, plain), move })).to.throw().with.property('code', 'invalid_status_transition');
      expect(() => moveEntry(given(created, deleted), { ...command(), move })).to.throw().with.property('code', 'entry_not_found');
    }
  });

  it('brings a deleted entry back as it was, under a new version, whether it was deleted softly or not', () => {
    const before = given((state) => createEntry(state, { ...command(), data: { title: 'One', tags: [1] }, slug: 'one' }), published);
    for (const soft of [true, false]) {
      const of = { ...command('2026-01-03T00:00:00.000Z'), definition: { ...type.definition, with_soft_delete: soft } };
      const gone = deleteEntry(before, of).reduce(entryDecider.evolve, before);
      expect(gone).to.include({ deleted: true, deletedSoftly: soft });
      const [fact, ...rest] = undeleteEntry(gone, { ...of, at: '2026-01-04T00:00:00.000Z' });
      expect(rest).to.deep.equal([]);
      expect(fact?.data).to.deep.include({ whole: { fields: { title: 'One', views: 0, tags: [1] }, status: 'published', slug: 'one', created_at: '2026-01-01T00:00:00.000Z', created_by: { kind: 'user', id: 'u1' }, published_at: '2026-01-02T00:00:00.000Z' } });
      expect(entryDecider.evolve(gone, fact!)).to.deep.equal({ ...before, version: 4, updatedAt: '2026-01-04T00:00:00.000Z' });
    }
  });

  it('brings an entry back with the values that take the place of others, and published where the type has no drafts any more', () => {
    const gone = given(created, deleted);
    const [fact] = undeleteEntry(gone, { ...command(), definition: { ...type.definition, with_draft_publish: false }, overriding: { views: null } });
    expect(fact && entryDecider.evolve(gone, fact)).to.deep.include({ fields: { title: 'One', views: null }, status: 'published' });
  });

  it('refuses to bring back an entry that is not deleted, was never there, is of another type or has changed', () => {
    expect(() => undeleteEntry(given(created), command())).to.throw().with.property('code', 'invalid_status_transition');
    expect(() => undeleteEntry(undefined, command())).to.throw().with.property('code', 'entry_not_found');
    expect(() => undeleteEntry({ ...given(created, deleted)!, typeId: 'other' }, command())).to.throw().with.property('code', 'entry_not_found');
    expect(() => undeleteEntry(given(created, deleted), { ...command(), versions: [1] })).to.throw().with.property('code', 'entry_changed');
  });

  it('answers any change of a deleted, a missing or another type\'s entry as not found', () => {
    for (const state of [given(created, deleted), undefined, { ...given(created)!, typeId: 'other' }]) {
      expect(() => changeEntry(state, { ...command(), data: {} })).to.throw().with.property('code', 'entry_not_found');
      expect(() => deleted(state)).to.throw().with.property('code', 'entry_not_found');
    }
  });

  it('refuses every change under If-Match of another version', () => {
    const state = given(created);
    expect(() => changeEntry(state, { ...command(), versions: [2], data: { title: 'x' } })).to.throw().with.property('code', 'entry_changed');
    expect(() => moveEntry(state, { ...command(), move: 'publish', versions: [] })).to.throw().with.property('code', 'entry_changed');
    expect(types(changeEntry(state, { ...command(), versions: [1], data: { title: 'x' } }))).to.deep.equal(['EntryFieldsChanged']);
  });

  it('keeps time from running backwards within an entry', () => {
    const [fact] = changeEntry(given(created, published), { ...command('2025-01-01T00:00:00.000Z'), data: { title: 'x' } });
    expect(fact?.at).to.equal('2026-01-02T00:00:00.000Z');
  });
});

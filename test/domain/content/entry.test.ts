import { expect } from 'chai';
import type { AttributedEntryEvent } from '../../../domain/content/entry-events.ts';
import type { EntryState } from '../../../domain/content/entry-state.ts';
import {
  ENTRY_TRANSITIONS,
  type EntryCommand,
  type EntryCommandBase,
  entryDecider,
} from '../../../domain/content/entry.ts';
import { testType } from '../../support/content.ts';
import { given } from '../../support/given.ts';

const article = testType({
  name: 'article',
  with_draft_publish: true,
  fields: [
    { name: 'title', field_type: 'text', required: true },
    { name: 'views', field_type: 'integer', default: 0 },
    { name: 'tags', field_type: 'json' },
  ],
});
const note = testType({ name: 'note', fields: [{ name: 'text', field_type: 'text' }] });
const [DAY_1, DAY_2, DAY_3, DAY_4] = [1, 2, 3, 4].map((day) => `2026-01-0${day}T00:00:00.000Z`) as [
  string,
  string,
  string,
  string,
];
const actor = { kind: 'user', id: 'u1' } as const;

function base(at = DAY_1, of = article): EntryCommandBase {
  return { entryId: 'e1', typeId: of.id, typeRevision: of.revision, definition: of.definition, actor, at };
}

/** The events of commands, each decided on the state that the ones before lead to. */
function eventsOf(...commands: readonly EntryCommand[]): readonly AttributedEntryEvent[] {
  let state = entryDecider.initialState();
  return commands.flatMap((command) => {
    const events = entryDecider.decide(state, command);
    state = events.reduce(entryDecider.evolve, state);
    return events;
  });
}
const stateOf = (events: readonly AttributedEntryEvent[]): EntryState | undefined =>
  events.reduce(entryDecider.evolve, entryDecider.initialState());
const stateAfter = (...commands: readonly EntryCommand[]) => stateOf(eventsOf(...commands));

const create: EntryCommand = { ...base(), kind: 'create', data: { title: 'One' } };
const publish: EntryCommand = { ...base(DAY_2), kind: 'transition', transition: 'publish' };
const archive: EntryCommand = { ...base(), kind: 'transition', transition: 'archive' };
const remove: EntryCommand = { ...base(DAY_3), kind: 'delete' };
const undelete: EntryCommand = { ...base(), kind: 'undelete' };
const change = (data: Extract<EntryCommand, { kind: 'change' }>['data'], at = DAY_1) =>
  ({ ...base(at), kind: 'change', data }) satisfies EntryCommand;
const createNote: EntryCommand = { ...base(DAY_1, note), kind: 'create', data: { text: 'x' } };

const BASE_DATA = { type_id: article.id, schema: 'article', type_revision: 0 };

describe('an entry', () => {
  it('is created as a draft, with default values, when its type has draft and publish', () => {
    given(entryDecider, [])
      .when(create)
      .thenAppends([
        {
          type: 'EntryCreated',
          data: { ...BASE_DATA, fields: { title: 'One', views: 0 }, status: 'draft' },
          entryId: 'e1',
          at: DAY_1,
          actor,
        },
      ]);
    expect(stateAfter(create)).to.include({ version: 1, status: 'draft', publishedAt: undefined, deleted: false });
  });

  it('is created as published when its type has no draft and publish', () => {
    expect(stateAfter(createNote)).to.include({ status: 'published', publishedAt: DAY_1 });
  });

  it('is created once', () => {
    given(entryDecider, eventsOf(create)).when(create).thenRefuses('conflict');
  });

  it('is not created without a required field', () => {
    expect(() => entryDecider.decide(undefined, { ...create, data: {} }))
      .to.throw()
      .that.deep.includes({ code: 'validation_failed', fields: [{ field: 'title', message: 'is required' }] });
  });

  it('records only the fields that changed', () => {
    given(entryDecider, eventsOf(create))
      .when(change({ title: 'Two', views: 0 }, DAY_4))
      .thenAppends([
        {
          type: 'EntryFieldsChanged',
          data: { ...BASE_DATA, fields: { title: 'Two' } },
          entryId: 'e1',
          at: DAY_4,
          actor,
        },
      ]);
  });

  it('does not change when the values are equal, also as JSON with another order of keys', () => {
    given(entryDecider, eventsOf(create, change({ tags: { a: 1, b: [1] } })))
      .when(change({ title: 'One', tags: { b: [1], a: 1 } }))
      .thenAppendsNothing();
  });

  it('gets no default values by an update', () => {
    expect(stateAfter(create, change({ views: null }))?.fields).to.deep.equal({ title: 'One', views: null });
  });

  it('is published and unpublished', () => {
    expect(stateAfter(create, publish)).to.include({ status: 'published', publishedAt: DAY_2, version: 2 });
    expect(stateAfter(create, publish, { ...base(), kind: 'transition', transition: 'unpublish' })).to.include({
      status: 'draft',
      publishedAt: undefined,
      version: 3,
    });
  });

  for (const { from, commands, allowed } of [
    { from: 'draft', commands: [create], allowed: { publish: 'published', archive: 'archived' } },
    { from: 'published', commands: [create, publish], allowed: { unpublish: 'draft', archive: 'archived' } },
    { from: 'archived', commands: [create, publish, archive], allowed: { unarchive: 'draft' } },
  ] as const) {
    for (const transition of ENTRY_TRANSITIONS) {
      const to = (allowed as Partial<Record<string, string>>)[transition];
      it(
        to === undefined ? `refuses to ${transition} from ${from}` : `changes from ${from} to ${to} by ${transition}`,
        () => {
          const command: EntryCommand = { ...base(DAY_4), kind: 'transition', transition };
          if (to === undefined)
            given(entryDecider, eventsOf(...commands))
              .when(command)
              .thenRefuses('invalid_status_transition');
          else
            expect(stateAfter(...commands, command)).to.include({
              status: to,
              publishedAt: to === 'published' ? DAY_4 : undefined,
            });
        },
      );
    }
  }

  it('has no transitions when its type has no draft and publish, or when it is deleted', () => {
    for (const transition of ENTRY_TRANSITIONS) {
      given(entryDecider, eventsOf(createNote))
        .when({ ...base(DAY_1, note), kind: 'transition', transition })
        .thenRefuses('invalid_status_transition');
      given(entryDecider, eventsOf(create, remove))
        .when({ ...base(), kind: 'transition', transition })
        .thenRefuses('entry_not_found');
    }
  });

  for (const soft of [true, false])
    it(`is undeleted as it was, as a new version, after a ${soft ? 'soft' : 'hard'} deletion`, () => {
      const createTagged: EntryCommand = { ...create, data: { title: 'One', tags: [1] }, slug: 'one' };
      const definition = { ...article.definition, with_soft_delete: soft };
      const removed = eventsOf(createTagged, publish, { ...remove, definition });
      expect(stateOf(removed)).to.include({ deleted: true, deletedSoftly: soft });
      const undeleted: AttributedEntryEvent = {
        type: 'EntryUndeleted',
        data: {
          ...BASE_DATA,
          whole: {
            fields: { title: 'One', views: 0, tags: [1] },
            status: 'published',
            slug: 'one',
            created_at: DAY_1,
            created_by: actor,
            published_at: DAY_2,
          },
        },
        entryId: 'e1',
        at: DAY_4,
        actor,
      };
      given(entryDecider, removed)
        .when({ ...undelete, definition, at: DAY_4 })
        .thenAppends([undeleted]);
      const before = stateAfter(createTagged, publish);
      expect(stateOf([...removed, undeleted])).to.deep.equal({ ...before, version: 4, updatedAt: DAY_4 });
    });

  it('is undeleted with overriding values, and as published when its type has no drafts any more', () => {
    const definition = { ...article.definition, with_draft_publish: false };
    const command: EntryCommand = { ...undelete, definition, overriding: { views: null } };
    expect(stateAfter(create, remove, command)).to.deep.include({
      fields: { title: 'One', views: null },
      status: 'published',
    });
  });

  it('is not undeleted when it is not deleted, does not exist, has another type or another version', () => {
    given(entryDecider, eventsOf(create)).when(undelete).thenRefuses('invalid_status_transition');
    given(entryDecider, []).when(undelete).thenRefuses('entry_not_found');
    given(entryDecider, eventsOf(create, remove))
      .when({ ...undelete, typeId: 'other' })
      .thenRefuses('entry_not_found');
    given(entryDecider, eventsOf(create, remove))
      .when({ ...undelete, versions: [1] })
      .thenRefuses('entry_changed');
  });

  it('is not found by a change or deletion when it is deleted, does not exist or has another type', () => {
    for (const command of [change({}), remove]) {
      given(entryDecider, eventsOf(create, remove)).when(command).thenRefuses('entry_not_found');
      given(entryDecider, []).when(command).thenRefuses('entry_not_found');
      given(entryDecider, eventsOf(create))
        .when({ ...command, typeId: 'other' })
        .thenRefuses('entry_not_found');
    }
  });

  it('refuses a command that expects another version', () => {
    given(entryDecider, eventsOf(create))
      .when({ ...change({ title: 'x' }), versions: [2] })
      .thenRefuses('entry_changed');
    given(entryDecider, eventsOf(create))
      .when({ ...publish, versions: [] })
      .thenRefuses('entry_changed');
    const state = stateAfter(create);
    const events = entryDecider.decide(state, { ...change({ title: 'x' }), versions: [1] });
    expect(events.map((event) => event.type)).to.deep.equal(['EntryFieldsChanged']);
  });

  it('never gets an event with an earlier time than the one before', () => {
    const [event] = entryDecider.decide(
      stateAfter(create, publish),
      change({ title: 'x' }, '2025-01-01T00:00:00.000Z'),
    );
    expect(event?.at).to.equal(DAY_2);
  });
});

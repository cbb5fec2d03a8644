import { expect } from 'chai';
import { v7 } from 'uuid';
import { changeRelease } from '../../../application/content/change-release.ts';
import { createEntry } from '../../../application/content/create-entry.ts';
import { createRelease } from '../../../application/content/create-release.ts';
import { loadRelease } from '../../../application/content/load-release.ts';
import { publishDueReleases } from '../../../application/content/publish-due-releases.ts';
import { publishRelease } from '../../../application/content/publish-release.ts';
import type { ReleaseDependencies } from '../../../application/content/release-dependencies.ts';
import { setReleaseEntries } from '../../../application/content/set-release-entries.ts';
import { transitionEntry } from '../../../application/content/transition-entry.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import type { ContentType } from '../../../domain/content/content-type.ts';
import type { ReleaseAction } from '../../../domain/content/release-events.ts';
import { hasCode, isAppError } from '../../../domain/errors.ts';
import { testContext, useContent } from '../../support/content.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { rejectionOf } from '../../support/rejection.ts';

class Crash extends Error {}

describe('publishing on an event store that appends to one stream at a time', () => {
  const content = useContent();
  const context = testContext({ actor: { kind: 'user', id: 'u-1' } });
  let type: ContentType;

  before(async () => {
    type = await content.save({
      name: 'article',
      with_draft_publish: true,
      fields: [{ name: 'title', field_type: 'text' }],
    });
  });

  /** A store without atomic appends to several streams. The process dies before, or right after, its n-th append. */
  function dependencies({
    dieAt = Infinity,
    after = false,
    before,
  }: { dieAt?: number; after?: boolean; before?: (append: number) => Promise<void> } = {}): ReleaseDependencies {
    const store = content.eventStore();
    let appends = 0;
    const eventStore: EventStore = {
      ...store,
      capabilities: { ...store.capabilities, atomicMultiStream: false },
      async append(stream, events, options) {
        appends += 1;
        const dies = appends === dieAt;
        if (dies && !after) throw new Crash();
        await before?.(appends);
        const result = await store.append(stream, events, options);
        if (dies) throw new Crash();
        return result;
      },
    };
    return {
      eventStore,
      entryRows: content.dependencies().entryRows,
      accessRules: content.dependencies().accessRules,
      typeById: (id) =>
        Promise.resolve(
          id === type.id
            ? { ...type, retained: [], pending: [], canceled: 0, deleted: false, deletedAt: undefined }
            : undefined,
        ),
      releases: {
        list: () => Promise.resolve([]),
        count: () => Promise.resolve(0),
        one: () => Promise.resolve(undefined),
        due: () => Promise.resolve(due),
      },
      exclusive: (_name, work) => work(),
      rolesOf: () => Promise.resolve(['editor']),
    };
  }
  let due: readonly { readonly tenant: string; readonly id: string }[] = [];

  async function entry(...transitions: readonly ReleaseAction[]): Promise<string> {
    const {
      entry: { id },
    } = await createEntry({ type, data: { title: 't' } }, context, content.dependencies());
    for (const transition of transitions)
      await transitionEntry({ type, id, transition }, context, content.dependencies());
    return id;
  }
  async function release(...items: readonly (readonly [string, ReleaseAction])[]): Promise<string> {
    const { id } = await createRelease({ name: 'r', description: '', scheduled_at: null }, context, dependencies());
    await setReleaseEntries(
      { id, items: items.map(([entry_id, action]) => ({ entry_id, action })) },
      context,
      dependencies(),
    );
    return id;
  }
  /** The types of an entry's events, oldest first. */
  async function history(id: string): Promise<readonly string[]> {
    const types: string[] = [];
    for await (const event of content.eventStore().readStream(`entry-default.${id}`)) types.push(event.type);
    return types;
  }
  const statusOf = async (id: string) => (await loadRelease({ tenant: 'default', id }, dependencies())).state?.status;
  const publish = (id: string, world = dependencies()) =>
    publishRelease({ id, by: 'caller', roles: ['editor'] }, context, world);
  const refusedBy = async (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) => (isAppError(error) ? error : Promise.reject(error instanceof Error ? error : new Error('?'))),
    );

  it('records the transitions, applies each of them and ends as published', async () => {
    const [draft, live, old] = [await entry(), await entry('publish'), await entry('publish')];
    const id = await release([draft, 'publish'], [live, 'unpublish'], [old, 'archive']);
    expect((await publish(id)).refused).to.deep.equal([]);
    expect(await statusOf(id)).to.equal('published');
    expect(await Promise.all([draft, live, old].map(history))).to.deep.equal([
      ['EntryCreated', 'EntryPublished'],
      ['EntryCreated', 'EntryPublished', 'EntryUnpublished'],
      ['EntryCreated', 'EntryPublished', 'EntryArchived'],
    ]);
  });

  // Appends: the recorded transitions, three entries, the end.
  for (const dieAt of [2, 3, 4, 5]) {
    for (const after of [false, true]) {
      it(`resumes after a crash ${after ? 'right after' : 'before'} append ${dieAt} and repeats no transition`, async () => {
        const items = [await entry(), await entry(), await entry()];
        const id = await release(...items.map((item) => [item, 'publish'] as const));
        const crash = await rejectionOf(publish(id, dependencies({ dieAt, after })));
        expect(crash).to.be.instanceOf(Crash);
        due = [{ tenant: 'default', id }];
        const logger = recordingLogger();
        const published = dieAt === 5 && after;
        expect(await publishDueReleases({ now: context.now, newId: v7 }, { ...dependencies(), logger })).to.equal(
          published ? 0 : 1,
        );
        expect(await statusOf(id)).to.equal('published');
        for (const item of items) expect(await history(item)).to.deep.equal(['EntryCreated', 'EntryPublished']);
      });
    }
  }

  it('decides again on an entry that changed after the plan, and keeps that change', async () => {
    const [one, two] = [await entry(), await entry()];
    const id = await release([one, 'publish'], [two, 'publish']);
    const touch = async (append: number) => {
      if (append === 2)
        await transitionEntry({ type, id: two, transition: 'archive' }, context, content.dependencies()).then(() =>
          transitionEntry({ type, id: two, transition: 'unarchive' }, context, content.dependencies()),
        );
    };
    await publish(id, dependencies({ before: touch }));
    expect(await history(two)).to.deep.equal(['EntryCreated', 'EntryArchived', 'EntryUnarchived', 'EntryPublished']);
  });

  async function blocked(world: (block: (append: number) => Promise<void>) => ReleaseDependencies) {
    const items = [
      await entry(),
      await entry('publish'),
      await entry('publish'),
      await entry(),
      await entry(),
    ] as const;
    const [draft, live, old, young, last] = items;
    const id = await release(
      [draft, 'publish'],
      [live, 'unpublish'],
      [old, 'archive'],
      [young, 'archive'],
      [last, 'publish'],
    );
    const block = async (append: number) => {
      if (append === 5)
        await transitionEntry({ type, id: last, transition: 'publish' }, context, content.dependencies());
    };
    return { id, items, last, outcome: publish(id, world(block)) };
  }
  const TAKEN_BACK = [
    ['EntryCreated', 'EntryPublished', 'EntryUnpublished'],
    ['EntryCreated', 'EntryPublished', 'EntryUnpublished', 'EntryPublished'],
    ['EntryCreated', 'EntryPublished', 'EntryArchived', 'EntryUnarchived', 'EntryPublished'],
    ['EntryCreated', 'EntryArchived', 'EntryUnarchived'],
    ['EntryCreated', 'EntryPublished'],
  ];

  it('reverts the applied transitions when a later one is refused, and reports the refused item', async () => {
    const { id, items, last, outcome } = await blocked((before) => dependencies({ before }));
    const error = await refusedBy(outcome);
    expect(hasCode(error, 'release_refused')).to.equal(true);
    expect(error?.body?.['report']).to.deep.include({
      entry_id: last,
      action: 'publish',
      ok: false,
      error: 'invalid status transition',
    });
    expect(await statusOf(id)).to.equal('failed');
    expect(await Promise.all(items.map(history))).to.deep.equal(TAKEN_BACK);
  });

  it('continues reverting after a crash', async () => {
    // Appends: the recorded transitions, four entries, the start of the reverting, one reverted transition.
    const { id, items, outcome } = await blocked((before) => dependencies({ before, dieAt: 8 }));
    expect(await rejectionOf(outcome)).to.be.instanceOf(Crash);
    due = [{ tenant: 'default', id }];
    const logger = recordingLogger();
    expect(await publishDueReleases({ now: context.now, newId: v7 }, { ...dependencies(), logger })).to.equal(1);
    expect(logger.lines.map(({ level, message }) => [level, message])).to.deep.include([
      'warn',
      'a scheduled release was not published',
    ]);
    expect(await statusOf(id)).to.equal('failed');
    expect(await Promise.all(items.map(history))).to.deep.equal(TAKEN_BACK);
  });

  it('does not revert a transition of an entry that was changed since', async () => {
    const [one, two] = [await entry(), await entry()];
    const id = await release([one, 'publish'], [two, 'publish']);
    const meddle = async (append: number) => {
      if (append !== 3) return;
      await transitionEntry({ type, id: one, transition: 'archive' }, context, content.dependencies());
      await transitionEntry({ type, id: two, transition: 'publish' }, context, content.dependencies());
    };
    await refusedBy(publish(id, dependencies({ before: meddle })));
    expect(await history(one)).to.deep.equal(['EntryCreated', 'EntryPublished', 'EntryArchived']);
  });

  it('refuses to change or delete a release while its publication is interrupted', async () => {
    const id = await release([await entry(), 'publish']);
    await publish(id, dependencies({ dieAt: 2 })).catch(() => undefined);
    expect(
      hasCode(
        await refusedBy(changeRelease({ id, settings: { name: 'x' } }, context, dependencies())),
        'release_in_progress',
      ),
    ).to.equal(true);
    expect((await publish(id)).refused).to.deep.equal([]);
  });
});

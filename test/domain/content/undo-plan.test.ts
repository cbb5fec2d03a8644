import { expect } from 'chai';
import fc from 'fast-check';
import { type BatchTrace, NO_TRACE, traceEvent } from '../../../domain/content/batch-trace.ts';
import type { AttributedEntryEvent } from '../../../domain/content/entry-events.ts';
import type { EntryState } from '../../../domain/content/entry-state.ts';
import { type EntryCommandBase, entryDecider } from '../../../domain/content/entry.ts';
import { revertEntry } from '../../../domain/content/revert-entry.ts';
import { planUndo } from '../../../domain/content/undo-plan.ts';
import type { Actor } from '../../../domain/event.ts';
import { testType } from '../../support/content.ts';

const type = testType({
  name: 'note',
  with_draft_publish: true,
  fields: [
    { name: 'a', field_type: 'text' },
    { name: 'b', field_type: 'text' },
  ],
});
const ids = {
  entryId: '0190b3a8-0000-7000-8000-0000000000ff',
  typeId: type.id,
  typeRevision: 0,
  definition: type.definition,
};

type Step = readonly [
  who: 'batch' | 'others',
  write: (state: EntryState | undefined, base: EntryCommandBase) => readonly AttributedEntryEvent[],
];
const create =
  (data: Record<string, string> = {}): Step[1] =>
  (state, base) =>
    entryDecider.decide(state, { ...base, kind: 'create', data });
const set =
  (data: Record<string, string | null>): Step[1] =>
  (state, base) =>
    entryDecider.decide(state, { ...base, kind: 'change', data });
const transition =
  (to: 'publish' | 'unpublish' | 'archive' | 'unarchive'): Step[1] =>
  (state, base) =>
    entryDecider.decide(state, { ...base, kind: 'transition', transition: to });
const remove: Step[1] = (state, base) => entryDecider.decide(state, { ...base, kind: 'delete' });
const undelete: Step[1] = (state, base) => entryDecider.decide(state, { ...base, kind: 'undelete' });

/** Runs the steps. A step that is refused is skipped. */
function run(steps: readonly Step[]): { readonly state: EntryState | undefined; readonly trace: BatchTrace } {
  let state: EntryState | undefined;
  let trace = NO_TRACE;
  for (const [at, [who, write]] of steps.entries()) {
    const actor: Actor = { kind: 'user', id: who };
    let events: readonly AttributedEntryEvent[] = [];
    try {
      events = write(state, { ...ids, actor, at: new Date(at * 1000).toISOString() });
    } catch {
      continue;
    }
    for (const event of events) {
      const next = entryDecider.evolve(state, event);
      trace = traceEvent(trace, {
        definition: type.definition,
        before: state,
        after: next,
        event: { version: next!.version, actor, at: event.at, ofBatch: who === 'batch' },
      });
      state = next;
    }
  }
  return { state, trace };
}
const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
const planned = (...steps: readonly Step[]) => {
  const { state, trace } = run(steps);
  const { action, fields, obstacles } = planUndo(type.definition, trace, state);
  return [
    action,
    fields.map(({ field, from, to }) => `${field}: ${text(from)} → ${text(to)}`),
    obstacles.map(({ field = 'entry', edit }) => `${field} by version ${edit?.version}`),
  ];
};

describe('the plan of an undo', () => {
  it('reverts the values that are still as the batch left them', () => {
    expect(planned(['others', create({ a: '1', b: '1' })], ['batch', set({ a: '2' })])).to.deep.equal([
      'revert',
      ['a: 2 → 1'],
      [],
    ]);
    expect(
      planned(['others', create({ a: '1' })], ['batch', set({ a: '2', b: '2' })], ['others', set({ b: '3' })]),
    ).to.deep.equal(['revert', ['a: 2 → 1'], ['b by version 3']]);
    expect(planned(['others', create()], ['batch', transition('publish')])).to.deep.equal([
      'revert',
      ['status: published → draft'],
      [],
    ]);
  });
  it('reverts several writes of the batch to the value before the first', () => {
    expect(planned(['others', create()], ['batch', set({ a: '1' })], ['batch', set({ a: '2' })])).to.deep.equal([
      'revert',
      ['a: 2 → null'],
      [],
    ]);
  });
  it('does nothing when the batch has no effect any more', () => {
    expect(
      planned(['others', create({ a: '1' })], ['batch', set({ a: '2' })], ['batch', set({ a: '1' })]),
    ).to.deep.equal(['none', [], []]);
    expect(
      planned(['others', create({ a: '1' })], ['batch', set({ a: '2' })], ['others', set({ a: '1' })]),
    ).to.deep.equal(['none', [], []]);
    expect(planned(['batch', create()], ['others', remove])).to.deep.equal(['none', [], []]);
    expect(planned(['batch', create()], ['batch', remove])).to.deep.equal(['none', [], []]);
  });
  it('reverts a value that others changed and then set back to what the batch left', () => {
    expect(
      planned(
        ['others', create({ a: '1' })],
        ['batch', set({ a: '2' })],
        ['others', set({ a: '3' })],
        ['others', set({ a: '2' })],
      ),
    ).to.deep.equal(['revert', ['a: 2 → 1'], []]);
  });
  it('deletes an entry that the batch created, and undeletes one that it deleted', () => {
    expect(planned(['batch', create({ a: '1' })])).to.deep.equal(['delete', [], []]);
    expect(planned(['batch', create()], ['others', set({ a: '1' })])).to.deep.equal([
      'none',
      [],
      ['entry by version 2'],
    ]);
    expect(planned(['others', create({ a: '1' })], ['batch', set({ a: '2' })], ['batch', remove])).to.deep.equal([
      'undelete',
      ['a: 2 → 1'],
      [],
    ]);
    expect(planned(['others', create()], ['batch', remove], ['others', undelete])).to.deep.equal(['none', [], []]);
    expect(planned(['others', create()], ['others', remove], ['batch', undelete])).to.deep.equal(['delete', [], []]);
  });
  it('names the later deletion of an entry that the batch changed', () => {
    expect(planned(['others', create({ a: '1' })], ['batch', set({ a: '2' })], ['others', remove])).to.deep.equal([
      'none',
      [],
      ['entry by version 3'],
    ]);
  });

  it('restores the entry as it was before any batch, when nobody else has written since', () => {
    const value = fc.constantFrom('1', '2', '3', null);
    const step = fc.oneof(
      fc.record({ a: value }).map((data) => set(data)),
      fc.record({ a: value, b: value }).map((data) => set(data)),
      fc.constantFrom(
        transition('publish'),
        transition('unpublish'),
        transition('archive'),
        transition('unarchive'),
        remove,
        undelete,
      ),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), fc.array(step, { maxLength: 8 }), (earlier, batch) => {
        const past: Step[] = [['others', create({ a: '0' })], ...earlier.map((write): Step => ['others', write])];
        const before = run(past).state!;
        const { state, trace } = run([...past, ...batch.map((write): Step => ['batch', write])]);
        const plan = planUndo(type.definition, trace, state);
        expect(plan.obstacles).to.deep.equal([]);
        const base = { ...ids, actor: { kind: 'user', id: 'undo' } as const, at: '2026-01-01T00:00:00.000Z' };
        let after = state;
        const write = (events: readonly AttributedEntryEvent[]) => (after = events.reduce(entryDecider.evolve, after));
        if (plan.action === 'delete') write(remove(after, base));
        if (plan.action === 'undelete') write(undelete(after, base));
        if (plan.action !== 'delete' && plan.fields.length > 0)
          write(revertEntry(after, { ...base, fields: plan.fields }));
        expect(after!.deleted).to.equal(before.deleted);
        if (before.deleted) return;
        const shown = ({ fields, status }: EntryState) => [fields['a'] ?? null, fields['b'] ?? null, status];
        expect(shown(after!)).to.deep.equal(shown(before));
      }),
      { numRuns: 500 },
    );
  });
});

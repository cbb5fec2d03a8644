import { expect } from 'chai';
import fc from 'fast-check';
import type { BatchTrace } from '../../../domain/content/batch-trace.ts';
import { NO_TRACE, traceEvent } from '../../../domain/content/batch-trace.ts';
import type { EntryCommand, EntryFact } from '../../../domain/content/entry.ts';
import { changeEntry, createEntry, deleteEntry, entryDecider, moveEntry, undeleteEntry } from '../../../domain/content/entry.ts';
import type { EntryState } from '../../../domain/content/entry-state.ts';
import { revertEntry } from '../../../domain/content/revert-entry.ts';
import { planUndo } from '../../../domain/content/undo-plan.ts';
import type { Actor } from '../../../domain/event.ts';
import { testType } from '../../support/content.ts';

const type = testType({ name: 'note', with_draft_publish: true, fields: [{ name: 'a', field_type: 'text' }, { name: 'b', field_type: 'text' }] });
const ids = { entryId: '0190b3a8-0000-7000-8000-0000000000ff', typeId: type.id, typeRevision: 0, definition: type.definition };

type Step = readonly [who: 'batch' | 'others', write: (state: EntryState | undefined, command: EntryCommand) => readonly EntryFact[]];
const create = (data: Record<string, string> = {}): Step[1] => (state, command) => createEntry(state, { ...command, data });
const set = (data: Record<string, string | null>): Step[1] => (state, command) => changeEntry(state, { ...command, data });
const move = (to: 'publish' | 'unpublish' | 'archive' | 'unarchive'): Step[1] => (state, command) => moveEntry(state, { ...command, move: to });

/** An entry's life as the steps make it; what is not allowed does not happen. */
function live(steps: readonly Step[]): { readonly state: EntryState | undefined; readonly trace: BatchTrace } {
  let state: EntryState | undefined;
  let trace = NO_TRACE;
  for (const [at, [who, write]] of steps.entries()) {
    const actor: Actor = { kind: 'user', id: who };
    let facts: readonly EntryFact[] = [];
    try {
      facts = write(state, { ...ids, actor, at: new Date(at * 1000).toISOString() });
    } catch {
      continue;
    }
    for (const fact of facts) {
      const next = entryDecider.evolve(state, fact);
      trace = traceEvent(type.definition, trace, [state, next], { version: next!.version, actor, at: fact.at, ofBatch: who === 'batch' });
      state = next;
    }
  }
  return { state, trace };
}
const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
const planned = (...steps: readonly Step[]) => {
  const { state, trace } = live(steps);
  const { action, fields, inTheWay } = planUndo(type.definition, trace, state);
  return [action, fields.map(({ field, from, to }) => `${field}: ${text(from)} → ${text(to)}`), inTheWay.map(({ field = 'entry', edit }) => `${field} by version ${edit?.version}`)];
};

describe('the plan of an undo', () => {
  it('takes back what is still as the batch left it', () => {
    expect(planned(['others', create({ a: '1', b: '1' })], ['batch', set({ a: '2' })])).to.deep.equal(['revert', ['a: 2 → 1'], []]);
    expect(planned(['others', create({ a: '1' })], ['batch', set({ a: '2', b: '2' })], ['others', set({ b: '3' })])).to.deep.equal(['revert', ['a: 2 → 1'], ['b by version 3']]);
    expect(planned(['others', create()], ['batch', move('publish')])).to.deep.equal(['revert', ['status: published → draft'], []]);
  });
  it('knows an empty value from none', () => {
    expect(planned(['others', create()], ['batch', set({ a: '1' })], ['batch', set({ a: '2' })])).to.deep.equal(['revert', ['a: 2 → null'], []]);
  });
  it('has nothing to do where nothing of the batch is left', () => {
    expect(planned(['others', create({ a: '1' })], ['batch', set({ a: '2' })], ['batch', set({ a: '1' })])).to.deep.equal(['none', [], []]);
    expect(planned(['others', create({ a: '1' })], ['batch', set({ a: '2' })], ['others', set({ a: '1' })])).to.deep.equal(['none', [], []]);
    expect(planned(['batch', create()], ['others', deleteEntry])).to.deep.equal(['none', [], []]);
    expect(planned(['batch', create()], ['batch', deleteEntry])).to.deep.equal(['none', [], []]);
  });
  it('goes back to a value that came back to what the batch left', () => {
    expect(planned(['others', create({ a: '1' })], ['batch', set({ a: '2' })], ['others', set({ a: '3' })], ['others', set({ a: '2' })])).to.deep.equal(['revert', ['a: 2 → 1'], []]);
  });
  it('deletes what the batch made, brings back what it deleted', () => {
    expect(planned(['batch', create({ a: '1' })])).to.deep.equal(['delete', [], []]);
    expect(planned(['batch', create()], ['others', set({ a: '1' })])).to.deep.equal(['none', [], ['entry by version 2']]);
    expect(planned(['others', create({ a: '1' })], ['batch', set({ a: '2' })], ['batch', deleteEntry])).to.deep.equal(['undelete', ['a: 2 → 1'], []]);
    expect(planned(['others', create()], ['batch', deleteEntry], ['others', undeleteEntry])).to.deep.equal(['none', [], []]);
    expect(planned(['others', create()], ['others', deleteEntry], ['batch', undeleteEntry])).to.deep.equal(['delete', [], []]);
  });
  it('names who deleted what the batch had changed', () => {
    expect(planned(['others', create({ a: '1' })], ['batch', set({ a: '2' })], ['others', deleteEntry])).to.deep.equal(['none', [], ['entry by version 3']]);
  });

  it('leads, where nobody else wrote meanwhile, to the entry as it was before the batch, whatever the batch did', () => {
    const value = fc.constantFrom('1', '2', '3', null);
    const step = fc.oneof(
      fc.record({ a: value }).map((data) => set(data)),
      fc.record({ a: value, b: value }).map((data) => set(data)),
      fc.constantFrom(move('publish'), move('unpublish'), move('archive'), move('unarchive'), deleteEntry, undeleteEntry),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), fc.array(step, { maxLength: 8 }), (earlier, batch) => {
        const past: Step[] = [['others', create({ a: '0' })], ...earlier.map((write): Step => ['others', write])];
        const before = live(past).state!;
        const { state, trace } = live([...past, ...batch.map((write): Step => ['batch', write])]);
        const plan = planUndo(type.definition, trace, state);
        expect(plan.inTheWay).to.deep.equal([]);
        const command = { ...ids, actor: { kind: 'user', id: 'undo' } as const, at: '2026-01-01T00:00:00.000Z' };
        let after = state;
        const write = (facts: readonly EntryFact[]) => (after = facts.reduce(entryDecider.evolve, after));
        if (plan.action === 'delete') write(deleteEntry(after, command));
        if (plan.action === 'undelete') write(undeleteEntry(after, command));
        if (plan.action !== 'delete' && plan.fields.length > 0) write(revertEntry(after, { ...command, fields: plan.fields }));
        expect(after!.deleted).to.equal(before.deleted);
        if (before.deleted) return;
        const shown = ({ fields, status }: EntryState) => [fields['a'] ?? null, fields['b'] ?? null, status];
        expect(shown(after!)).to.deep.equal(shown(before));
      }),
      { numRuns: 500 },
    );
  });
});

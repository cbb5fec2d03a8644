import { expect } from 'chai';
import type { Decider } from '../../domain/decider.ts';
import { type ErrorCode, hasCode } from '../../domain/errors.ts';

/**
 * Specifies a decider: `given(decider, events).when(command).thenAppends(events)`, or `.thenRefuses(code)`.
 * The state is folded from the given events.
 */
export function given<State, Command, Event>(decider: Decider<State, Command, Event>, events: readonly Event[]) {
  const state = events.reduce(decider.evolve, decider.initialState());
  return {
    when(command: Command) {
      const decide = (): readonly Event[] => decider.decide(state, command);
      return {
        thenAppends(expected: readonly Event[]): void {
          expect(decide()).to.deep.equal(expected);
        },
        thenAppendsNothing(): void {
          expect(decide()).to.deep.equal([]);
        },
        thenRefuses(code: ErrorCode): void {
          expect(decide)
            .to.throw()
            .that.satisfies((error: unknown) => hasCode(error, code));
        },
      };
    },
  };
}

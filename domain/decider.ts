/** Folds events into a state. Pure: no clock, no randomness, no I/O. */
export type Fold<State, Event> = {
  readonly initialState: () => State;
  readonly evolve: (state: State, event: Event) => State;
};

/**
 * An aggregate as a pure state machine: `decide` returns the events that a command causes, `evolve` returns the state
 * after an event. `decide` throws a refusal of the error catalogue; it returns no events when the command changes
 * nothing.
 *
 * An aggregate that is created has the state undefined before its first event, and the refusal `conflict` for a
 * creation with an id that is in use. A set of settings is empty before its first event and needs no creation.
 */
export type Decider<State, Command, Event> = Fold<State, Event> & {
  readonly decide: (state: State, command: Command) => readonly Event[];
};

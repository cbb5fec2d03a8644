/** A pure state machine: what its events make of a state. Decisions are functions of a command and that state. */
export type Decider<State, Event> = {
  readonly initialState: () => State;
  readonly evolve: (state: State, event: Event) => State;
};

/** One migration of the schemas `eventstore` and `operational`. Forward only; its SQL never changes after a release. */
export type Migration = {
  /** `<four digits>-<words>`; migrations run in the order of their ids. */
  readonly id: string;
  /** One or more statements, run in one transaction. */
  readonly sql: string;
};

/** One step of the schemas `eventstore` and `operational`. Forward only; once shipped, never edited. */
export type Migration = {
  /** `<four digits>-<words>`; steps run in the order of their ids. */
  readonly id: string;
  /** One or more statements, run in one transaction. */
  readonly sql: string;
};

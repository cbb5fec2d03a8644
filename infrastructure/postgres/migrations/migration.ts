/**
 * One migration of the schemas `eventstore` and `operational`. Forward only. After a release its SQL never changes,
 * except the text of a table comment that a later migration replaces.
 */
export type Migration = {
  /** `<four digits>-<words>`; migrations run in the order of their ids. */
  readonly id: string;
  /** One or more statements, run in one transaction. */
  readonly sql: string;
};

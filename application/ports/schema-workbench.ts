import type { StoredContentType } from '../../domain/content/content-type.ts';
import type { FieldDefinition, SchemaStatement } from '../../domain/content/definition.ts';
import type { ValueCheck } from '../../domain/content/schema-diff.ts';
import type { Json } from '../../domain/json.ts';

/** What a change would do to the live table. */
export type SchemaTrial = {
  readonly tenant: string;
  /** Table that statements without one of their own are for, and that is asked afterwards. */
  readonly table: string;
  /** Those that would be applied at once, in order. */
  readonly statements: readonly SchemaStatement[];
  readonly checks: readonly ValueCheck[];
};

/** A value that an entry holds, as JSON shows it. */
export type EntryValue = { readonly entryId: string; readonly field: FieldDefinition; readonly value: Json };

/** `passed` carries the values of the checked unique fields, as the change leaves them. `refused`: a value does not convert, or breaks a rule that was turned on. `locked`: the table could not be had in time. */
export type TrialOutcome = { readonly outcome: 'passed'; readonly unique: readonly EntryValue[] } | { readonly outcome: 'refused'; readonly reason: string } | { readonly outcome: 'locked' };

/** Whose values are asked for. */
export type ValueQuestion = {
  readonly tenant: string;
  readonly table: string;
  readonly fields: readonly FieldDefinition[];
  /** Counts entries marked with this moment as there: that of their type's deletion. */
  readonly deletedAt?: string | undefined;
};

/** Reading the content types that the read model holds. */
export type ContentTypeReader = {
  /** What the tenant's entries hold in the fields today. */
  valuesOf(question: ValueQuestion): Promise<readonly EntryValue[]>;
  /** All content types of a name, of every tenant, those deleted softly too, the one deleted last after the others. */
  named(name: string): Promise<readonly StoredContentType[]>;
  /** The tenant's live content types. */
  ofTenant(tenant: string): Promise<readonly StoredContentType[]>;
};

export type SchemaSession = ContentTypeReader & {
  /** Runs the statements for real in the live table and takes everything back. */
  tryOut(trial: SchemaTrial): Promise<TrialOutcome>;
};

/** What a change must have for itself. */
export type SchemaScope = {
  readonly tenant: string;
  /** Content types' names, of every tenant: their tables are one. */
  readonly names: readonly string[];
  /**
   * `shared`: the change rests on which other types the tenant has (their names stand in relations). `alone`: it takes a name away, so that no
   * change of another type of the tenant may run beside it.
   */
  readonly tenantTypes: 'shared' | 'alone';
};

/** Changes of the typed tables before they are facts (spec 5, rule 9). */
export type SchemaWorkbench = ContentTypeReader & {
  /**
   * Runs work while no other process changes content types of these names. Inside a process changes wait for each other.
   * @returns undefined, at once, when another process is at it
   */
  exclusively<T>(scope: SchemaScope, work: (session: SchemaSession) => Promise<T>): Promise<{ readonly value: T } | undefined>;
};

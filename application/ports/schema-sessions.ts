import type { StoredContentType } from '../../domain/content/content-type.ts';
import type { FieldDefinition } from '../../domain/content/definition.ts';
import type { ValueCheck } from '../../domain/content/schema-diff.ts';
import type { SchemaStatement } from '../../domain/content/schema-statement.ts';
import type { Json } from '../../domain/json.ts';

/** A schema change to try on the live table. */
export type SchemaTrial = {
  readonly tenant: string;
  /** The table for statements that name no other; `checks` run on it afterwards. */
  readonly table: string;
  /** The statements that would be applied immediately, in order. */
  readonly statements: readonly SchemaStatement[];
  readonly checks: readonly ValueCheck[];
};

/** A value of an entry, in its JSON form. */
export type EntryValue = { readonly entryId: string; readonly field: FieldDefinition; readonly value: Json };

/**
 * The result of a trial.
 * - `passed`: `unique` lists the values of the checked unique fields after the change.
 * - `refused`: a value cannot be converted or violates a rule that was turned on.
 * - `locked`: the lock on the table was not available in time.
 */
export type TrialOutcome =
  | { readonly outcome: 'passed'; readonly unique: readonly EntryValue[] }
  | { readonly outcome: 'refused'; readonly reason: string }
  | { readonly outcome: 'locked' };

/** The fields whose values are requested. */
export type ValueQuestion = {
  readonly tenant: string;
  readonly table: string;
  readonly fields: readonly FieldDefinition[];
  /** Includes entries deleted at this time: the time at which their content type was deleted. */
  readonly deletedAt?: string | undefined;
};

/** Queries of the content types in the read model. */
export type ContentTypeReader = {
  /** The current values of the tenant's entries in the fields. */
  valuesOf(question: ValueQuestion): Promise<readonly EntryValue[]>;
  /**
   * All content types with this name, of every tenant, including soft-deleted ones; the one deleted last comes last.
   */
  named(name: string): Promise<readonly StoredContentType[]>;
  /** The tenant's live content types. */
  ofTenant(tenant: string): Promise<readonly StoredContentType[]>;
};

export type SchemaSession = ContentTypeReader & {
  /** Runs the statements in the live table and rolls them back. */
  tryOut(trial: SchemaTrial): Promise<TrialOutcome>;
};

/** The content types that a schema change must have exclusively. */
export type SchemaScope = {
  readonly tenant: string;
  /** Names of content types. They apply to every tenant, because tenants share the table of a name. */
  readonly names: readonly string[];
  /**
   * `shared`: the change depends on which other types the tenant has, because relations reference them. `alone`: the
   * change removes a name, so no change of another type of the tenant may run concurrently.
   */
  readonly tenantTypes: 'shared' | 'alone';
};

/** Tries changes of the typed tables before their events are appended. */
export type SchemaSessions = ContentTypeReader & {
  /**
   * Runs work while no other process changes content types with these names. Changes within one process run one after
   * another.
   * @returns undefined, without waiting, when another process is changing them
   */
  exclusively<T>(
    scope: SchemaScope,
    work: (session: SchemaSession) => Promise<T>,
  ): Promise<{ readonly value: T } | undefined>;
};

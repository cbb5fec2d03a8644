import type { JsonObject } from '../../domain/json.ts';

/** A person, by everything that what is held about them is found by. */
export type Subject = {
  /** Accounts, also deleted ones. */
  readonly userIds: readonly string[];
  /** Normalised address. */
  readonly email: string;
  /** API keys and admin tokens that they made. */
  readonly credentials: readonly { readonly tenant: string; readonly kind: 'api_key' | 'admin_token'; readonly id: string; readonly name: string; readonly createdAt: string }[];
};

/** One kind of what is held about a person beside the history: rows, files (rule 1, state that is no history). */
export type PersonalRecords = {
  /** Name of the kind in exports and in answers of an erasure. */
  readonly kind: string;
  /** What is held, as the person may read it. Holds no secret. */
  list(subject: Subject): Promise<readonly JsonObject[]>;
  /** Removes it, or what in it is personal. @returns how many */
  erase(subject: Subject): Promise<number>;
};

import type { JsonObject } from '../../domain/json.ts';

/** A person, with every identifier under which data about them is stored. */
export type Subject = {
  /** Ids of accounts, including deleted ones. */
  readonly userIds: readonly string[];
  /** Normalised e-mail address. */
  readonly email: string;
  /** API keys and admin tokens that the person created. */
  readonly credentials: readonly {
    readonly tenant: string;
    readonly kind: 'api_key' | 'admin_token';
    readonly id: string;
    readonly name: string;
    readonly createdAt: string;
  }[];
};

/** One kind of personal data that is stored outside the event store, such as rows or files. */
export type PersonalRecords = {
  /** Name of the kind in exports and in responses to an erasure. */
  readonly kind: string;
  /** The records in the form the person may read. Contains no secrets. */
  list(subject: Subject): Promise<readonly JsonObject[]>;
  /** Deletes the records or their personal parts. @returns the number of records changed */
  erase(subject: Subject): Promise<number>;
};

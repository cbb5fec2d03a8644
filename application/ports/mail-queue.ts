import type { SealedValue } from '../../domain/sealed-value.ts';

/**
 * A mail reserved for a limited time. `attempt` counts from 1; only the holder of the latest attempt may
 * finish it.
 */
export type ReservedMail = { readonly id: string; readonly attempt: number; readonly content: SealedValue };

/**
 * Mails waiting to be sent, in the schema `operational`, so that they survive a crash. Due times use the queue's own
 * clock.
 */
export type MailQueue = {
  add(mail: { readonly id: string; readonly content: SealedValue }): Promise<void>;
  /** Reserves due mails. Mails not finished within `reservedMs` milliseconds become due again for any process. */
  reserve(options: { readonly limit: number; readonly reservedMs: number }): Promise<readonly ReservedMail[]>;
  /** Removes a mail, delivered or not. */
  remove(mail: Pick<ReservedMail, 'id' | 'attempt'>): Promise<void>;
  postpone(mail: Pick<ReservedMail, 'id' | 'attempt'>, delayMs: number): Promise<void>;
};

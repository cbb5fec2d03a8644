import type { SealedValue } from '../../domain/sealed-value.ts';

/**
 * A mail claimed from the queue for a limited time. `attempt` counts from 1; only the holder of the latest attempt may
 * finish it.
 */
export type ClaimedMail = { readonly id: string; readonly attempt: number; readonly content: SealedValue };

/**
 * Mails waiting to be sent, in the schema `operational`, so that they survive a crash. Due times use the queue's own
 * clock.
 */
export type MailQueue = {
  add(mail: { readonly id: string; readonly content: SealedValue }): Promise<void>;
  /** Claims due mails. Mails not finished within `leaseMs` milliseconds become due again for any process. */
  claim(options: { readonly limit: number; readonly leaseMs: number }): Promise<readonly ClaimedMail[]>;
  /** Removes a mail, delivered or not. */
  remove(mail: Pick<ClaimedMail, 'id' | 'attempt'>): Promise<void>;
  postpone(mail: Pick<ClaimedMail, 'id' | 'attempt'>, delayMs: number): Promise<void>;
};

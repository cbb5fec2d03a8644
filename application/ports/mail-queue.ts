import type { Sealed } from './vault.ts';

/** A mail taken out of the queue for a while. `attempt` counts from 1; only who holds the newest attempt may finish it. */
export type ClaimedMail = { readonly id: string; readonly attempt: number; readonly content: Sealed };

/** Mails that wait for the relay, in `operational`: they outlive a crash. The time is the queue's own clock. */
export type MailQueue = {
  add(mail: { readonly id: string; readonly content: Sealed }): Promise<void>;
  /** Takes due mails; those not finished within `leaseMs` are due again, for anybody. */
  claim(wish: { readonly limit: number; readonly leaseMs: number }): Promise<readonly ClaimedMail[]>;
  /** Done with it, whatever became of it. */
  remove(mail: Pick<ClaimedMail, 'id' | 'attempt'>): Promise<void>;
  postpone(mail: Pick<ClaimedMail, 'id' | 'attempt'>, delayMs: number): Promise<void>;
};

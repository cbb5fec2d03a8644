import type { TriggerEvent } from '../../domain/automation/trigger.ts';

/** A delivery to make: one event for one webhook. The id is the same however often the event is handled. */
export type WebhookMessage = {
  /** Also `X-Webhook-Id`. */
  readonly id: string;
  readonly tenant: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly event: TriggerEvent;
  readonly schema: string;
  /** The raw body that is sent on every attempt. */
  readonly body: string;
  /** Id of the record of the first attempt. */
  readonly deliveryId: string;
  /** Of the event, where traces are asked for. */
  readonly traceparent: string | undefined;
};

/** A delivery claimed for one attempt. */
export type ClaimedDelivery = {
  readonly messageId: string;
  readonly tenant: string;
  readonly webhookId: string;
  readonly event: string;
  readonly schema: string;
  readonly body: string;
  readonly deliveryId: string;
  readonly traceparent: string | undefined;
  /** From 1. */
  readonly attempt: number;
  /** How often our own faults have put this attempt off. */
  readonly postponed: number;
  readonly claim: string;
};

/** What became of one attempt. */
export type AttemptRecord = {
  readonly messageId: string;
  readonly attempt: number;
  readonly status: 'success' | 'failed' | 'dead';
  readonly statusCode: number | undefined;
  readonly durationMs: number;
  readonly responseBody: string | undefined;
  readonly error: string | undefined;
  /** When the attempt began. */
  readonly at: Date;
  /** The next attempt: its record's id and the wait before it. */
  readonly next: { readonly deliveryId: string; readonly delayMs: number } | undefined;
  /** Where `status` is `dead`. */
  readonly deadLetter: { readonly id: string; readonly webhookName: string } | undefined;
};

/** A dead letter whose event is not appended yet. Its id is also the event's, so that appending it again is harmless. */
export type UnannouncedDeadLetter = {
  readonly id: string;
  readonly tenant: string;
  readonly webhookId: string;
  readonly webhookName: string;
  readonly event: string;
  readonly schema: string;
  readonly totalAttempts: number;
  readonly lastStatusCode: number | undefined;
};

/**
 * The durable queue of webhook deliveries and the record of their attempts. Claims are leases: one that is not resolved in time
 * becomes due again, so that a dead worker's deliveries are taken over. `Tx`: the adapter's transaction.
 */
export type WebhookQueue<Tx = unknown> = {
  /** Adds messages that are not there yet, in one statement. @returns how many were new */
  enqueue(messages: readonly WebhookMessage[], tx?: Tx): Promise<number>;
  /** Takes due deliveries, oldest first, that no other worker holds. */
  claim(options: { readonly limit: number; readonly leaseMs: number }): Promise<readonly ClaimedDelivery[]>;
  /** Milliseconds until a delivery falls due (0: one is); undefined when the queue is empty. */
  nextDue(): Promise<number | undefined>;
  /** Records attempts, at most one of each number for a message ever, and moves their deliveries on, in one statement. @returns ids of the messages recorded here */
  record(attempts: readonly AttemptRecord[]): Promise<readonly string[]>;
  /** Gives claimed deliveries back without an attempt. `count`: as a fault of ours, bounded by the worker. */
  postpone(deliveries: readonly ClaimedDelivery[], options: { readonly delayMs: number; readonly count: boolean }): Promise<void>;
  /** Drops claimed deliveries whose webhook is gone. */
  discard(deliveries: readonly ClaimedDelivery[]): Promise<void>;
  /** Takes dead letters that are not announced and that nobody took within `leaseMs`. */
  claimUnannounced(options: { readonly limit: number; readonly leaseMs: number }): Promise<readonly UnannouncedDeadLetter[]>;
  announced(ids: readonly string[]): Promise<void>;
  /** Deliveries waiting, due or not. */
  depth(): Promise<number>;
};

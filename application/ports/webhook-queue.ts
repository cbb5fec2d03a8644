import type { TriggerEvent } from '../../domain/automation/trigger.ts';

/** A delivery of one event to one webhook. The id stays the same however often the event is handled. */
export type WebhookMessage = {
  /** Also sent as `X-Webhook-Id`. */
  readonly id: string;
  readonly tenant: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly event: TriggerEvent;
  readonly schema: string;
  /** The raw body sent on every attempt. */
  readonly body: string;
  /** Id of the record of the first attempt. */
  readonly deliveryId: string;
  /** The trace context of the event; undefined without tracing. */
  readonly traceparent: string | undefined;
};

/** A delivery reserved for one attempt. */
export type ReservedDelivery = {
  readonly messageId: string;
  readonly tenant: string;
  readonly webhookId: string;
  readonly event: string;
  readonly schema: string;
  readonly body: string;
  readonly deliveryId: string;
  readonly traceparent: string | undefined;
  /** Counts from 1. */
  readonly attempt: number;
  /** How often local failures have postponed this attempt. */
  readonly postponed: number;
  readonly reservation: string;
};

/** The outcome of one attempt. */
export type AttemptRecord = {
  readonly messageId: string;
  readonly attempt: number;
  readonly status: 'success' | 'failed' | 'dead';
  readonly statusCode: number | undefined;
  readonly durationMs: number;
  readonly responseBody: string | undefined;
  readonly error: string | undefined;
  /** Start of the attempt. */
  readonly at: Date;
  /** The next attempt: the id of its record and the delay before it. */
  readonly next: { readonly deliveryId: string; readonly delayMs: number } | undefined;
  /** Present when `status` is `dead`. */
  readonly deadLetter: { readonly id: string; readonly webhookName: string } | undefined;
};

/**
 * A dead letter whose event is not appended yet. The event has the same id, so that appending it again has no effect.
 */
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
 * The durable queue of webhook deliveries and the records of their attempts. A reservation hides a delivery from other
 * workers for a limited time: a delivery that is not resolved in time becomes due again, so that another worker takes
 * it over. `Tx` is the adapter's transaction.
 */
export type WebhookQueue<Tx = unknown> = {
  /** Adds messages that are not in the queue yet, in one statement. @returns the number added */
  enqueue(messages: readonly WebhookMessage[], tx?: Tx): Promise<number>;
  /** Reserves due deliveries that no other worker has, oldest first. */
  reserve(options: { readonly limit: number; readonly reservedMs: number }): Promise<readonly ReservedDelivery[]>;
  /** Milliseconds until the next delivery is due (0: one is due now); undefined when the queue is empty. */
  nextDue(): Promise<number | undefined>;
  /**
   * Records attempts and updates their deliveries, in one statement. Each attempt number of a message is recorded at
   * most once.
   * @returns the ids of the messages recorded by this call
   */
  record(attempts: readonly AttemptRecord[]): Promise<readonly string[]>;
  /**
   * Returns reserved deliveries to the queue without recording an attempt. `count`: adds one to `postponed`, which the
   * worker limits.
   */
  postpone(
    deliveries: readonly ReservedDelivery[],
    options: { readonly delayMs: number; readonly count: boolean },
  ): Promise<void>;
  /** Deletes reserved deliveries whose webhook was deleted. */
  discard(deliveries: readonly ReservedDelivery[]): Promise<void>;
  /** Reserves dead letters that are not announced and not reserved within the last `reservedMs` milliseconds. */
  reserveUnannounced(options: {
    readonly limit: number;
    readonly reservedMs: number;
  }): Promise<readonly UnannouncedDeadLetter[]>;
  /** Marks dead letters as announced. */
  announced(ids: readonly string[]): Promise<void>;
  /** Number of deliveries in the queue, due or not. */
  depth(): Promise<number>;
};

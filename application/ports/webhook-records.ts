/** One delivery attempt, made or pending. */
export type DeliveryRow = {
  readonly id: string;
  readonly webhook_id: string;
  readonly event: string;
  readonly schema: string;
  readonly status: 'pending' | 'success' | 'failed' | 'dead';
  readonly status_code: number | null;
  readonly duration_ms: number | null;
  readonly request_body: string;
  readonly response_body: string | null;
  readonly retry_count: number;
  readonly attempt_num: number;
  readonly error: string | null;
  readonly created_at: string;
};

/** A delivery that failed on its last attempt. */
export type DeadLetterRow = {
  readonly id: string;
  readonly webhook_id: string;
  readonly webhook_name: string;
  readonly event: string;
  readonly schema: string;
  readonly request_body: string;
  readonly last_status_code: number | null;
  readonly last_error: string | null;
  readonly total_attempts: number;
  readonly status: 'pending' | 'replayed' | 'dismissed';
  readonly created_at: string;
};

export type DeadLetterStatus = DeadLetterRow['status'];

/** Queries of the delivery records of one tenant. */
export type WebhookRecords = {
  /** Newest first. */
  deliveries(query: {
    readonly tenant: string;
    readonly webhookId: string;
    readonly limit: number;
    readonly offset: number;
  }): Promise<readonly DeliveryRow[]>;
  /** Newest first. */
  deadLetters(query: {
    readonly tenant: string;
    readonly status?: DeadLetterStatus | undefined;
    readonly limit: number;
    readonly offset: number;
  }): Promise<readonly DeadLetterRow[]>;
  deadLetter(tenant: string, id: string): Promise<DeadLetterRow | undefined>;
};

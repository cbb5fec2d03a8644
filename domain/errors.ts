import { codeOf } from './code-of.ts';
import type { Json } from './json.ts';

/** One refused field of a request body. `field` is its path, parts separated by dots. */
export type FieldError = { readonly field: string; readonly message: string };

/** What a refusal adds to its catalogue entry. */
export type ErrorDetails = {
  /** Replaces the default message. */
  readonly message?: string;
  readonly fields?: readonly FieldError[];
  /** Further members of the response body. */
  readonly body?: Readonly<Record<string, Json>>;
  /** Headers of the response. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
};

/**
 * A refusal: an error of the catalogue. Match it by `code`, never by class: `hasCode(error, 'conflict')`.
 * `status` is the HTTP status of the response; `api/http/error-response.ts` maps the refusal to a response body.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly fields: readonly FieldError[] | undefined;
  readonly body: Readonly<Record<string, Json>> | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    const entry = ERRORS[code];
    super(details.message ?? entry.message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'AppError';
    this.code = code;
    this.status = entry.status;
    this.fields = details.fields;
    this.body = details.body;
    this.headers = details.headers;
  }
}

/**
 * The error catalogue: code → HTTP status and default message. Codes, statuses and messages are contracts with API
 * clients. Keep the entries of a module together.
 */
export const ERRORS = {
  // every route
  bad_request: { status: 400, message: 'bad request' },
  invalid_json_body: { status: 400, message: 'invalid JSON body' },
  invalid_json: { status: 400, message: 'invalid JSON' },
  invalid_query_parameter: { status: 400, message: 'invalid query parameter' },
  invalid_header: { status: 400, message: 'invalid header' },
  authentication_required: { status: 401, message: 'authentication required' },
  permission_denied: { status: 403, message: 'permission denied' },
  address_refused: { status: 403, message: 'requests from this address are not allowed' },
  session_required: { status: 403, message: 'This route needs a signed-in session.' },
  insufficient_permissions: { status: 403, message: 'insufficient permissions' },
  insufficient_scope: { status: 403, message: 'insufficient scope' },
  schema_not_allowed: { status: 403, message: 'schema not allowed for this credential' },
  invalid_csrf_token: { status: 403, message: 'invalid CSRF token' },
  endpoint_not_found: { status: 404, message: 'The requested endpoint does not exist.' },
  not_found: { status: 404, message: 'not found' },
  tenant_not_found: { status: 404, message: 'tenant not found' },
  method_not_allowed: { status: 405, message: 'method not allowed' },
  request_timeout: { status: 408, message: 'the request did not arrive in time' },
  idempotency_in_progress: { status: 409, message: 'a request with this idempotency key is in progress' },
  body_too_large: { status: 413, message: 'request body too large' },
  unsupported_media_type: {
    status: 415,
    message: 'unsupported media type, expected application/json or multipart/form-data',
  },
  json_type_required: { status: 415, message: 'content-type must be application/json for multipart/form-data' },
  host_not_served: { status: 421, message: 'this host is not served here' },
  validation_failed: { status: 422, message: 'validation failed' },
  expectation_failed: { status: 417, message: 'expectation failed' },
  idempotency_key_reused: { status: 422, message: 'idempotency key was used with another body' },
  headers_too_large: { status: 431, message: 'request headers too large' },
  too_many_streams: { status: 429, message: 'too many open streams' },
  rate_limited: { status: 429, message: 'rate limit exceeded' },
  internal: { status: 500, message: 'internal error' },
  not_caught_up: { status: 503, message: 'the read model has not reached the requested position' },
  unavailable: { status: 503, message: 'service unavailable' },

  // event store
  conflict: { status: 409, message: 'the stream has changed' },
  guard_failed: { status: 409, message: 'a condition of the append does not hold' },
  stream_deleted: { status: 410, message: 'the stream is deleted' },
  invalid_append: { status: 500, message: 'the append is not valid' },
  idempotency_corrupted: { status: 500, message: 'the events were appended only in part' },
  too_large: { status: 413, message: 'the append is too large' },
  store_unavailable: { status: 503, message: 'the event store is unavailable' },
  outcome_unknown: { status: 503, message: 'the outcome of the append is unknown' },
  store_access_denied: { status: 500, message: 'the event store refused the credentials' },

  // projections
  past_not_ready: { status: 503, message: 'the state of that moment is still being gathered' },
  projection_stopped: { status: 503, message: 'the read model has stopped' },
  lease_lost: { status: 500, message: 'the lease was lost' },

  // content
  entry_changed: { status: 412, message: 'the entry has changed' },
  schema_not_found: { status: 404, message: 'schema not found' },
  field_not_found: { status: 404, message: 'field not found in schema' },
  entry_not_found: { status: 404, message: 'content not found' },
  comment_not_found: { status: 404, message: 'comment not found' },
  preset_not_found: { status: 404, message: 'preset not found' },
  release_not_found: { status: 404, message: 'release not found' },
  undo_nothing_found: { status: 404, message: 'no events match' },
  revision_not_found: { status: 404, message: 'revision not found' },
  schema_read_only: { status: 405, message: 'schema is read-only over this transport' },
  schema_write_only: { status: 405, message: 'schema is write-only over this transport' },
  unique_value_held: { status: 409, message: 'unique value already held' },
  invalid_status_transition: { status: 409, message: 'invalid status transition' },
  field_exists: { status: 409, message: 'a field with that name already exists' },
  preset_built_in: { status: 409, message: 'a built-in preset cannot be deleted' },
  preset_id_taken: { status: 409, message: 'a built-in preset already uses that id' },
  preset_schema_exists: { status: 409, message: 'a schema the preset creates already exists' },
  release_in_progress: { status: 409, message: 'the release is being published' },
  release_published: { status: 409, message: 'the release is already published' },
  release_refused: { status: 409, message: 'the release cannot be published' },
  schema_exists: { status: 409, message: 'a schema with that name already exists' },
  entry_referenced: { status: 409, message: 'entry is referenced by another' },
  schema_referenced: { status: 409, message: 'content type is referenced by another' },
  schema_table_shared: { status: 409, message: 'another schema shares this table and defines it differently' },
  layout_too_large: { status: 413, message: 'layout too large' },
  preset_refused: { status: 422, message: 'the document is not a preset' },
  preset_schema_refused: { status: 422, message: 'invalid schema in preset' },
  preset_source_ambiguous: { status: 422, message: 'send a url or a document, not both' },
  preset_source_missing: { status: 422, message: 'a url or a document is required' },
  preset_url_refused: { status: 422, message: 'the URL must be http or https' },
  preset_unreachable: { status: 502, message: 'the URL did not answer with a preset document' },
  invalid_schema: { status: 422, message: 'invalid schema' },
  schema_refused: { status: 400, message: 'invalid schema' },
  new_name_required: { status: 422, message: 'new_name is required' },
  new_name_same: { status: 422, message: 'new_name must differ from current name' },
  content_mode_refused: { status: 422, message: 'content must be hard or soft' },
  undo_too_large: { status: 422, message: 'the batch contains more than 10000 entries' },
  schema_migration_failed: { status: 422, message: 'schema migration failed' },
  schema_mutation_limited: { status: 429, message: 'schema mutation rate limit exceeded' },
  ddl_in_progress: { status: 503, message: 'another instance is applying DDL for this schema; retry in 1s' },

  // identity
  invalid_reset_token: { status: 400, message: 'invalid or expired password reset token' },
  authorization_pending: { status: 400, message: 'authorization_pending' },
  email_required: { status: 400, message: 'email is required' },
  expired_token: { status: 400, message: 'expired_token' },
  invalid_email: { status: 400, message: 'invalid email format' },
  invalid_magic_link: { status: 400, message: 'invalid or expired magic link' },
  slow_down: { status: 400, message: 'slow_down' },
  token_required: { status: 400, message: 'token is required' },
  invalid_credentials: { status: 401, message: 'invalid credentials' },
  invalid_challenge: { status: 401, message: 'invalid or expired challenge' },
  invalid_code: { status: 401, message: 'invalid code' },
  invalid_refresh_token: { status: 401, message: 'invalid refresh token' },
  admin_key_refused: {
    status: 401,
    message: 'API keys with an admin role are not accepted on the admin API. Use an admin token.',
  },
  confirmation_required: { status: 403, message: 'password or mfa_code is required' },
  invalid_password: { status: 403, message: 'invalid password' },
  access_denied: { status: 403, message: 'access_denied' },
  authentication_failed: { status: 403, message: 'authentication failed' },
  invalid_setup_token: { status: 403, message: 'invalid setup token' },
  keys_need_user: { status: 403, message: 'API keys are managed by a signed-in user, not by another key' },
  tenant_disabled: { status: 403, message: 'tenant is disabled' },
  insufficient_grant: { status: 403, message: 'insufficient grant' },
  cannot_grant_roles: { status: 403, message: 'cannot grant roles you do not possess' },
  device_sign_in_not_found: { status: 404, message: 'device sign-in not found' },
  api_key_not_found: { status: 404, message: 'api key not found' },
  admin_token_not_found: { status: 404, message: 'admin token not found' },
  user_not_found: { status: 404, message: 'user not found' },
  membership_not_found: { status: 404, message: 'membership not found' },
  access_rule_not_found: { status: 404, message: 'access rule not found' },
  api_key_revoked: { status: 409, message: 'the api key is revoked' },
  admin_token_revoked: { status: 409, message: 'the admin token is revoked' },
  mfa_enabled: { status: 409, message: 'two-factor sign-in is already enabled' },
  mfa_not_enabled: { status: 409, message: 'two-factor sign-in is not enabled' },
  mfa_not_set_up: { status: 409, message: 'set up an authenticator first' },
  setup_complete: { status: 409, message: 'setup is already complete' },
  device_sign_in_decided: { status: 409, message: 'the device sign-in is already approved or denied' },
  user_exists: { status: 409, message: 'a user with that email already exists' },
  last_super_admin: { status: 409, message: 'the last super_admin cannot be removed' },
  tenant_exists: { status: 409, message: 'a tenant with that slug already exists' },
  tenant_domain_taken: { status: 409, message: 'another tenant has that domain' },
  default_tenant_stays: { status: 409, message: 'the default tenant cannot be deleted' },
  access_rule_exists: { status: 409, message: 'a rule for that role and schema already exists' },
  invalid_tenant_slug: {
    status: 422,
    message: 'slug must start with a letter and hold at most 63 lower-case letters, digits or _',
  },
  weak_password: { status: 422, message: 'password does not meet the policy' },
  api_key_needs_expiry: {
    status: 422,
    message: 'a key with the admin or super_admin role needs an expiry, at most 90 days away',
  },
  api_key_expires_late: {
    status: 422,
    message: 'a key with the admin or super_admin role expires at most 90 days away',
  },
  unknown_grant: { status: 422, message: 'unknown grant' },
  admin_token_expires_late: { status: 422, message: 'an admin token expires at most 90 days away' },
  api_key_name_required: { status: 400, message: 'invalid JSON, name is required' },
  magic_link_attempts_limited: { status: 429, message: 'too many magic link attempts - try again later' },
  magic_link_requests_limited: { status: 429, message: 'too many magic link requests - try again in 15 minutes' },
  password_reset_not_configured: { status: 503, message: 'password reset is not configured' },
  monthly_limit_exceeded: { status: 429, message: 'monthly request limit exceeded' },
  authentication_unavailable: { status: 503, message: 'authentication is temporarily unavailable' },
  device_not_configured: { status: 503, message: 'Device sign-in is not configured on this install.' },
  magic_link_not_configured: { status: 503, message: 'magic link sign-in is not configured' },

  // platform
  license_expired: { status: 400, message: 'the license has expired' },
  license_refused: { status: 400, message: 'the license server refused the license key' },
  license_unverified: { status: 400, message: 'license verification failed' },
  message_refused: { status: 500, message: 'the broker refuses the message' },
  message_unreadable: { status: 500, message: 'the message cannot be read' },
  payment_required: { status: 402, message: 'payment_required' },
  cap_exceeded: { status: 402, message: 'cap_exceeded' },
  config_not_saved: { status: 409, message: 'none of the settings could be saved' },
  person_not_found: { status: 404, message: 'person not found' },
  event_not_found: { status: 404, message: 'event not found' },
  plugin_not_found: { status: 404, message: 'plugin not found' },
  license_server_unreachable: { status: 502, message: 'the license server could not be reached' },

  // automation
  invalid_input: { status: 400, message: 'invalid input' },
  webhook_not_found: { status: 404, message: 'webhook not found' },
  delivery_not_found: { status: 404, message: 'delivery not found' },
  dead_letter_not_found: { status: 404, message: 'dead letter not found' },
  address_not_allowed: { status: 400, message: 'address not allowed' },
} as const satisfies Record<string, { readonly status: number; readonly message: string }>;

/** A code of the catalogue. */
export type ErrorCode = keyof typeof ERRORS;

/** Makes a refusal: `throw refusal('schema_not_found')`. */
export function refusal(code: ErrorCode, details?: ErrorDetails): AppError {
  return new AppError(code, details);
}

/** Makes the refusal `validation_failed` of one field; `field` is its path, parts separated by dots. */
export function invalidField(field: string, message: string): AppError {
  return refusal('validation_failed', { fields: [{ field, message }] });
}

/** Whether an unknown thrown value is a refusal of this code. */
export function hasCode(error: unknown, code: ErrorCode): boolean {
  return codeOf(error) === code;
}

/** Whether an unknown thrown value is a refusal of the catalogue. */
export function isAppError(error: unknown): error is AppError {
  return error instanceof Error && error.name === 'AppError' && 'code' in error && 'status' in error;
}

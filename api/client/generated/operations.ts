// Generated from the OpenAPI document by: UPDATE_GENERATED=1 npm test -- test/api/client/operations.test.ts
export interface paths {
    readonly "/api/v1/content/{schema}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List entries */
        readonly get: operations["listEntries"];
        readonly put?: never;
        /** Create an entry */
        readonly post: operations["createEntry"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/content/{schema}/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get one entry, also a draft; with as_of, as it was at a point in time */
        readonly get: operations["getEntry"];
        /** Update the fields that the body contains */
        readonly put: operations["updateEntry"];
        readonly post?: never;
        /** Delete an entry; its history is kept */
        readonly delete: operations["deleteEntry"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/content/{schema}/{id}/archive": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /** Archive a draft or a published entry */
        readonly put: operations["archiveEntry"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/content/{schema}/{id}/blame": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** For each field, who wrote the current value, when and with which credential */
        readonly get: operations["blameEntry"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/content/{schema}/{id}/publish": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /** Publish a draft */
        readonly put: operations["publishEntry"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/content/{schema}/{id}/relations/{field}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List the entries that a relation of an entry refers to, in their order */
        readonly get: operations["listRelated"];
        /** Replace the entries that a belongs_to or many_to_many relation refers to */
        readonly put: operations["replaceRelated"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/content/{schema}/{id}/revisions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List the revisions of an entry, newest first */
        readonly get: operations["listRevisions"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/content/{schema}/{id}/revisions/{a}/diff/{b}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Compare two revisions of an entry */
        readonly get: operations["diffRevisions"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/content/{schema}/{id}/revisions/{rev_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get one revision, by its id or version, with the field values at that revision */
        readonly get: operations["getRevision"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/content/{schema}/{id}/revisions/{rev_id}/restore": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /** Restore the field values of a revision as a new revision */
        readonly put: operations["restoreRevision"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/content/{schema}/{id}/unarchive": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /** Set an archived entry back to draft */
        readonly put: operations["unarchiveEntry"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/content/{schema}/{id}/undelete": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /** Restore a soft-deleted entry */
        readonly put: operations["undeleteEntry"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/content/{schema}/{id}/unpublish": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /** Set a published entry back to draft */
        readonly put: operations["unpublishEntry"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/content/{schema}/bulk": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Create 1 to 1000 entries, either all of them or none */
        readonly post: operations["createEntries"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/content/{schema}/changes": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List every change of the entries in log order, including deletions; with Accept: text/event-stream, continue with live changes */
        readonly get: operations["readChanges"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/content/{schema}/cursor": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List entries page by page; no entry is repeated or skipped when entries change between the pages */
        readonly get: operations["pageEntries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * Entry
         * @example {
         *       "id": "019abc00-0000-7000-8000-000000000001",
         *       "schema_name": "article",
         *       "slug": "text",
         *       "status": "draft",
         *       "data": {
         *         "title": "First light"
         *       },
         *       "version": 1,
         *       "created_at": "2026-11-20T12:00:00.000Z",
         *       "updated_at": "2026-11-20T12:00:00.000Z",
         *       "published_at": "2026-11-20T12:00:00.000Z",
         *       "deleted_at": "2026-11-20T12:00:00.000Z",
         *       "created_by": {
         *         "kind": "user",
         *         "id": "text"
         *       },
         *       "updated_by": {
         *         "kind": "user",
         *         "id": "text"
         *       },
         *       "resolved_locale": "text"
         *     }
         */
        readonly Entry: {
            /** Format: date-time */
            readonly created_at: string;
            readonly created_by: {
                readonly id: string;
                /** @example user */
                readonly kind: string;
            };
            /**
             * @description Field values
             * @example {
             *       "title": "First light"
             *     }
             */
            readonly data: {
                readonly [key: string]: unknown;
            };
            /** Format: date-time */
            readonly deleted_at?: string;
            /** Format: uuid */
            readonly id: string;
            readonly published_at?: string | null;
            /** @description Present when the request asks for a locale */
            readonly resolved_locale?: string;
            /** @example article */
            readonly schema_name: string;
            readonly slug?: string;
            /** @enum {string} */
            readonly status?: "draft" | "published" | "archived";
            /** Format: date-time */
            readonly updated_at: string;
            readonly updated_by: {
                readonly id: string;
                /** @example user */
                readonly kind: string;
            };
            readonly version: number;
        };
        /**
         * EntryInput
         * @example {
         *       "data": {
         *         "title": "First light"
         *       }
         *     }
         */
        readonly EntryInput: {
            /**
             * @description Field values
             * @example {
             *       "title": "First light"
             *     }
             */
            readonly data: {
                readonly [key: string]: unknown;
            };
        };
        readonly Error: {
            /**
             * @description The code, for programs
             * @enum {string}
             */
            readonly code: "access_denied" | "access_rule_exists" | "access_rule_not_found" | "address_not_allowed" | "address_refused" | "admin_key_refused" | "admin_token_expires_late" | "admin_token_not_found" | "admin_token_revoked" | "api_key_expires_late" | "api_key_name_required" | "api_key_needs_expiry" | "api_key_not_found" | "api_key_revoked" | "authentication_failed" | "authentication_required" | "authentication_unavailable" | "authorization_pending" | "bad_request" | "body_too_large" | "cannot_grant_roles" | "comment_not_found" | "config_not_saved" | "confirmation_required" | "conflict" | "content_mode_refused" | "ddl_in_progress" | "dead_letter_not_found" | "default_tenant_stays" | "delivery_not_found" | "device_not_configured" | "device_sign_in_decided" | "device_sign_in_not_found" | "email_required" | "endpoint_not_found" | "entry_changed" | "entry_not_found" | "entry_referenced" | "event_not_found" | "expectation_failed" | "expired_token" | "field_exists" | "field_not_found" | "guard_failed" | "headers_too_large" | "host_not_served" | "idempotency_corrupted" | "idempotency_in_progress" | "idempotency_key_reused" | "insufficient_grant" | "insufficient_permissions" | "insufficient_scope" | "internal" | "invalid_append" | "invalid_challenge" | "invalid_code" | "invalid_credentials" | "invalid_csrf_token" | "invalid_email" | "invalid_header" | "invalid_input" | "invalid_json" | "invalid_json_body" | "invalid_magic_link" | "invalid_password" | "invalid_query_parameter" | "invalid_refresh_token" | "invalid_reset_token" | "invalid_schema" | "invalid_setup_token" | "invalid_status_transition" | "invalid_tenant_slug" | "json_type_required" | "keys_need_user" | "last_super_admin" | "layout_too_large" | "lease_lost" | "license_expired" | "license_refused" | "license_server_unreachable" | "license_unverified" | "magic_link_attempts_limited" | "magic_link_not_configured" | "magic_link_requests_limited" | "membership_not_found" | "message_refused" | "message_unreadable" | "method_not_allowed" | "mfa_enabled" | "mfa_not_enabled" | "mfa_not_set_up" | "monthly_limit_exceeded" | "new_name_required" | "new_name_same" | "not_caught_up" | "not_found" | "outcome_unknown" | "password_reset_not_configured" | "past_not_ready" | "permission_denied" | "person_not_found" | "plugin_not_found" | "preset_built_in" | "preset_id_taken" | "preset_not_found" | "preset_refused" | "preset_schema_exists" | "preset_schema_refused" | "preset_source_ambiguous" | "preset_source_missing" | "preset_unreachable" | "preset_url_refused" | "projection_stopped" | "rate_limited" | "release_in_progress" | "release_not_found" | "release_published" | "release_refused" | "request_timeout" | "revision_not_found" | "schema_exists" | "schema_migration_failed" | "schema_mutation_limited" | "schema_not_allowed" | "schema_not_found" | "schema_read_only" | "schema_referenced" | "schema_refused" | "schema_table_shared" | "schema_write_only" | "session_required" | "setup_complete" | "slow_down" | "store_access_denied" | "store_unavailable" | "stream_deleted" | "tenant_disabled" | "tenant_domain_taken" | "tenant_exists" | "tenant_not_found" | "token_required" | "too_large" | "too_many_streams" | "unavailable" | "undo_nothing_found" | "undo_too_large" | "unique_value_held" | "unknown_grant" | "unsupported_media_type" | "user_exists" | "user_not_found" | "validation_failed" | "weak_password" | "webhook_not_found";
            /** @description The message, for people */
            readonly error: string;
            /** @description The invalid members of the body, with the reasons */
            readonly fields?: readonly components["schemas"]["FieldError"][];
            /** @description What the request can change, when a response would be too large */
            readonly hint?: string;
        };
        readonly FieldError: {
            /** @description Dotted path of the member */
            readonly field: string;
            /** @description The reason */
            readonly message: string;
        };
        /**
         * WrittenEntry
         * @description The entry after a write. Without the right to read it: id, version and status only
         * @example {
         *       "id": "019abc00-0000-7000-8000-000000000001",
         *       "schema_name": "article",
         *       "slug": "text",
         *       "status": "draft",
         *       "data": {
         *         "title": "First light"
         *       },
         *       "version": 1,
         *       "created_at": "2026-11-20T12:00:00.000Z",
         *       "updated_at": "2026-11-20T12:00:00.000Z",
         *       "published_at": "2026-11-20T12:00:00.000Z",
         *       "deleted_at": "2026-11-20T12:00:00.000Z",
         *       "created_by": {
         *         "kind": "user",
         *         "id": "text"
         *       },
         *       "updated_by": {
         *         "kind": "user",
         *         "id": "text"
         *       },
         *       "resolved_locale": "text"
         *     }
         */
        readonly WrittenEntry: {
            /** Format: date-time */
            readonly created_at?: string;
            readonly created_by?: {
                readonly id: string;
                /** @example user */
                readonly kind: string;
            };
            /**
             * @description Field values
             * @example {
             *       "title": "First light"
             *     }
             */
            readonly data?: {
                readonly [key: string]: unknown;
            };
            /** Format: date-time */
            readonly deleted_at?: string;
            /** Format: uuid */
            readonly id: string;
            readonly published_at?: string | null;
            /** @description Present when the request asks for a locale */
            readonly resolved_locale?: string;
            /** @example article */
            readonly schema_name?: string;
            readonly slug?: string;
            /** @enum {string} */
            readonly status?: "draft" | "published" | "archived";
            /** Format: date-time */
            readonly updated_at?: string;
            readonly updated_by?: {
                readonly id: string;
                /** @example user */
                readonly kind: string;
            };
            readonly version: number;
        };
    };
    responses: {
        /** @description `internal`: internal error */
        readonly "500-internal": {
            headers: {
                readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: {
        /** @description A repeated request with the same key and body gets the response of the first one for 24 hours */
        readonly "Idempotency-Key": string;
        /**
         * @description Performs the request only if this is the current version, else answers 412
         * @example "3"
         */
        readonly "If-Match": string;
        /**
         * @description Answers 304 without a body if this is the current version
         * @example "3"
         */
        readonly "If-None-Match": string;
        /** @description Resumes a stream after this event: the id of the last event received */
        readonly "Last-Event-ID": string;
        /** @description Waits up to 2 seconds until the read models have reached this position, else answers 503 */
        readonly "X-Min-Position": string;
    };
    requestBodies: never;
    headers: {
        /** @description The version of the entry or the document, for If-Match and If-None-Match */
        readonly ETag: string;
        /** @description Size of the bucket of the strictest matching limit, in requests. Absent when no limit matched */
        readonly "RateLimit-Limit": number;
        /** @description `<burst>;w=1`. Absent when no limit matched */
        readonly "RateLimit-Policy": string;
        /** @description Requests that remain in the bucket */
        readonly "RateLimit-Remaining": number;
        /** @description Seconds until the bucket is full */
        readonly "RateLimit-Reset": number;
        /** @description Position of the write in the log. A read that sends it as X-Min-Position sees the write. Absent when nothing was written */
        readonly "X-Commit-Position": string;
        /** @description The correlation id of the request, or a new one */
        readonly "X-Correlation-ID": string;
        /** @description `true` when the read models have not caught up with the write after 5 seconds */
        readonly "X-Projection-Lag": "true";
        /** @description The id of this request in the log */
        readonly "X-Request-Id": string;
        /** @description How often the content type was saved. Field names may differ between two revisions */
        readonly "X-Schema-Revision": string;
        /** @description The total number of items; only with count=true */
        readonly "X-Total-Count": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly listEntries: {
        readonly parameters: {
            readonly query?: {
                /** @description A point in time in the past, RFC 3339, inclusive */
                readonly as_of?: string;
                /** @description true adds the header X-Total-Count */
                readonly count?: string;
                /** @description 1 to 3; default 1 */
                readonly depth?: string;
                /** @description Names of the members of data to return; default: all */
                readonly fields?: string;
                /** @description filters[<field>]=<value>, filters[<field>][$op]=<value> */
                readonly filters?: Record<string, never>;
                /** @description 1 to 200; default 25 */
                readonly limit?: string;
                /** @description Language tag such as fr or pt-BR; default: Accept-Language */
                readonly locale?: string;
                /** @description Number of entries to skip; default 0 */
                readonly offset?: string;
                /** @description Names of relations to return as whole entries, or * */
                readonly populate?: string;
                /** @description Words that the text and rich_text fields must all contain; supports "a phrase", or, -without */
                readonly q?: string;
                /** @description Up to 5 field names; a leading - sorts descending; default -created_at */
                readonly sort?: string;
            };
            readonly header?: {
                /** @description Waits up to 2 seconds until the read models have reached this position, else answers 503 */
                readonly "X-Min-Position"?: components["parameters"]["X-Min-Position"];
            };
            readonly path: {
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly "X-Total-Count": components["headers"]["X-Total-Count"];
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "019abc00-0000-7000-8000-000000000001",
                     *         "schema_name": "article",
                     *         "slug": "text",
                     *         "status": "draft",
                     *         "data": {
                     *           "title": "First light"
                     *         },
                     *         "version": 1,
                     *         "created_at": "2026-11-20T12:00:00.000Z",
                     *         "updated_at": "2026-11-20T12:00:00.000Z",
                     *         "published_at": "2026-11-20T12:00:00.000Z",
                     *         "deleted_at": "2026-11-20T12:00:00.000Z",
                     *         "created_by": {
                     *           "kind": "user",
                     *           "id": "text"
                     *         },
                     *         "updated_by": {
                     *           "kind": "user",
                     *           "id": "text"
                     *         },
                     *         "resolved_locale": "text"
                     *       }
                     *     ]
                     */
                    readonly "application/json": readonly components["schemas"]["Entry"][];
                };
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
    readonly createEntry: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeated request with the same key and body gets the response of the first one for 24 hours */
                readonly "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            readonly path: {
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["EntryInput"];
            };
        };
        readonly responses: {
            /** @description Created */
            readonly 201: {
                headers: {
                    readonly ETag: components["headers"]["ETag"];
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Commit-Position": components["headers"]["X-Commit-Position"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Projection-Lag": components["headers"]["X-Projection-Lag"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WrittenEntry"];
                };
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
    readonly getEntry: {
        readonly parameters: {
            readonly query?: {
                /** @description A point in time in the past, RFC 3339, inclusive */
                readonly as_of?: string;
                /** @description 1 to 3; default 1 */
                readonly depth?: string;
                /** @description Names of the members of data to return; default: all */
                readonly fields?: string;
                /** @description Language tag such as fr or pt-BR; default: Accept-Language */
                readonly locale?: string;
                /** @description Names of relations to return as whole entries, or * */
                readonly populate?: string;
            };
            readonly header?: {
                /**
                 * @description Answers 304 without a body if this is the current version
                 * @example "3"
                 */
                readonly "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description Waits up to 2 seconds until the read models have reached this position, else answers 503 */
                readonly "X-Min-Position"?: components["parameters"]["X-Min-Position"];
            };
            readonly path: {
                readonly id: string;
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly ETag: components["headers"]["ETag"];
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Entry"];
                };
            };
            /** @description Not modified */
            readonly 304: {
                headers: {
                    readonly ETag: components["headers"]["ETag"];
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
    readonly updateEntry: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description Performs the request only if this is the current version, else answers 412
                 * @example "3"
                 */
                readonly "If-Match"?: components["parameters"]["If-Match"];
            };
            readonly path: {
                readonly id: string;
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["EntryInput"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly ETag: components["headers"]["ETag"];
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Commit-Position": components["headers"]["X-Commit-Position"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Projection-Lag": components["headers"]["X-Projection-Lag"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WrittenEntry"];
                };
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
    readonly deleteEntry: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description Performs the request only if this is the current version, else answers 412
                 * @example "3"
                 */
                readonly "If-Match"?: components["parameters"]["If-Match"];
            };
            readonly path: {
                readonly id: string;
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success, without a body */
            readonly 204: {
                headers: {
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Commit-Position": components["headers"]["X-Commit-Position"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Projection-Lag": components["headers"]["X-Projection-Lag"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
    readonly archiveEntry: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description Performs the request only if this is the current version, else answers 412
                 * @example "3"
                 */
                readonly "If-Match"?: components["parameters"]["If-Match"];
            };
            readonly path: {
                readonly id: string;
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly ETag: components["headers"]["ETag"];
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Commit-Position": components["headers"]["X-Commit-Position"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Projection-Lag": components["headers"]["X-Projection-Lag"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WrittenEntry"];
                };
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
    readonly blameEntry: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Waits up to 2 seconds until the read models have reached this position, else answers 503 */
                readonly "X-Min-Position"?: components["parameters"]["X-Min-Position"];
            };
            readonly path: {
                readonly id: string;
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "field": "text",
                     *           "value": {},
                     *           "version": 1,
                     *           "at": "2026-11-20T12:00:00.000Z",
                     *           "actor": {
                     *             "kind": "user",
                     *             "id": "text"
                     *           },
                     *           "credential": {
                     *             "kind": "text",
                     *             "id": "text"
                     *           },
                     *           "correlation_id": "text",
                     *           "event_id": "019abc00-0000-7000-8000-000000000001"
                     *         }
                     *       ]
                     *     }
                     */
                    readonly "application/json": {
                        readonly data: readonly {
                            readonly actor: {
                                readonly id: string;
                                /** @example user */
                                readonly kind: string;
                            };
                            /** Format: date-time */
                            readonly at: string;
                            readonly correlation_id: string;
                            readonly credential: {
                                readonly id: string | null;
                                readonly kind: string;
                            };
                            /** Format: uuid */
                            readonly event_id: string;
                            readonly field: string;
                            readonly value: unknown;
                            readonly version: number;
                        }[];
                    };
                };
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
    readonly publishEntry: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description Performs the request only if this is the current version, else answers 412
                 * @example "3"
                 */
                readonly "If-Match"?: components["parameters"]["If-Match"];
            };
            readonly path: {
                readonly id: string;
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly ETag: components["headers"]["ETag"];
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Commit-Position": components["headers"]["X-Commit-Position"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Projection-Lag": components["headers"]["X-Projection-Lag"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WrittenEntry"];
                };
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
    readonly listRelated: {
        readonly parameters: {
            readonly query?: {
                /** @description 1 to 200; default 25 */
                readonly limit?: string;
                /** @description Number of entries to skip; default 0 */
                readonly offset?: string;
            };
            readonly header?: {
                /** @description Waits up to 2 seconds until the read models have reached this position, else answers 503 */
                readonly "X-Min-Position"?: components["parameters"]["X-Min-Position"];
            };
            readonly path: {
                readonly field: string;
                readonly id: string;
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly ETag: components["headers"]["ETag"];
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "019abc00-0000-7000-8000-000000000001",
                     *           "schema_name": "article",
                     *           "slug": "text",
                     *           "status": "draft",
                     *           "data": {
                     *             "title": "First light"
                     *           },
                     *           "version": 1,
                     *           "created_at": "2026-11-20T12:00:00.000Z",
                     *           "updated_at": "2026-11-20T12:00:00.000Z",
                     *           "published_at": "2026-11-20T12:00:00.000Z",
                     *           "deleted_at": "2026-11-20T12:00:00.000Z",
                     *           "created_by": {
                     *             "kind": "user",
                     *             "id": "text"
                     *           },
                     *           "updated_by": {
                     *             "kind": "user",
                     *             "id": "text"
                     *           },
                     *           "resolved_locale": "text"
                     *         }
                     *       ],
                     *       "total": 1
                     *     }
                     */
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["Entry"][];
                        /** @description Number of related entries that the caller may see */
                        readonly total: number;
                    };
                };
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
    readonly replaceRelated: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description Performs the request only if this is the current version, else answers 412
                 * @example "3"
                 */
                readonly "If-Match"?: components["parameters"]["If-Match"];
            };
            readonly path: {
                readonly field: string;
                readonly id: string;
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "ids": [
                 *         "text"
                 *       ]
                 *     }
                 */
                readonly "application/json": {
                    readonly ids: readonly string[];
                };
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly ETag: components["headers"]["ETag"];
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Commit-Position": components["headers"]["X-Commit-Position"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Projection-Lag": components["headers"]["X-Projection-Lag"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WrittenEntry"];
                };
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
    readonly listRevisions: {
        readonly parameters: {
            readonly query?: {
                /** @description true adds the header X-Total-Count */
                readonly count?: string;
                /** @description 1 to 200; default 25 */
                readonly limit?: string;
                /** @description Number of entries to skip; default 0 */
                readonly offset?: string;
            };
            readonly header?: {
                /** @description Waits up to 2 seconds until the read models have reached this position, else answers 503 */
                readonly "X-Min-Position"?: components["parameters"]["X-Min-Position"];
            };
            readonly path: {
                readonly id: string;
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly "X-Total-Count": components["headers"]["X-Total-Count"];
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "019abc00-0000-7000-8000-000000000001",
                     *         "version": 1,
                     *         "action": "text",
                     *         "actor": {
                     *           "kind": "user",
                     *           "id": "text"
                     *         },
                     *         "created_at": "2026-11-20T12:00:00.000Z",
                     *         "changed": [
                     *           "text"
                     *         ]
                     *       }
                     *     ]
                     */
                    readonly "application/json": readonly {
                        readonly action: string;
                        readonly actor: {
                            readonly id: string;
                            /** @example user */
                            readonly kind: string;
                        };
                        readonly changed: readonly string[];
                        /** Format: date-time */
                        readonly created_at: string;
                        /** Format: uuid */
                        readonly id: string;
                        readonly version: number;
                    }[];
                };
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
    readonly diffRevisions: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Waits up to 2 seconds until the read models have reached this position, else answers 503 */
                readonly "X-Min-Position"?: components["parameters"]["X-Min-Position"];
            };
            readonly path: {
                readonly a: string;
                readonly b: string;
                readonly id: string;
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "changes": [
                     *         {
                     *           "field": "text",
                     *           "from": {},
                     *           "to": {}
                     *         }
                     *       ]
                     *     }
                     */
                    readonly "application/json": {
                        readonly changes: readonly {
                            readonly field: string;
                            readonly from: unknown;
                            readonly to: unknown;
                        }[];
                    };
                };
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
    readonly getRevision: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Waits up to 2 seconds until the read models have reached this position, else answers 503 */
                readonly "X-Min-Position"?: components["parameters"]["X-Min-Position"];
            };
            readonly path: {
                readonly id: string;
                readonly rev_id: string;
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019abc00-0000-7000-8000-000000000001",
                     *       "version": 1,
                     *       "action": "text",
                     *       "actor": {
                     *         "kind": "user",
                     *         "id": "text"
                     *       },
                     *       "created_at": "2026-11-20T12:00:00.000Z",
                     *       "changed": [
                     *         "text"
                     *       ],
                     *       "data": {
                     *         "title": "First light"
                     *       }
                     *     }
                     */
                    readonly "application/json": {
                        readonly action: string;
                        readonly actor: {
                            readonly id: string;
                            /** @example user */
                            readonly kind: string;
                        };
                        readonly changed: readonly string[];
                        /** Format: date-time */
                        readonly created_at: string;
                        /**
                         * @description Field values
                         * @example {
                         *       "title": "First light"
                         *     }
                         */
                        readonly data: {
                            readonly [key: string]: unknown;
                        };
                        /** Format: uuid */
                        readonly id: string;
                        readonly version: number;
                    };
                };
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
    readonly restoreRevision: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description Performs the request only if this is the current version, else answers 412
                 * @example "3"
                 */
                readonly "If-Match"?: components["parameters"]["If-Match"];
            };
            readonly path: {
                readonly id: string;
                readonly rev_id: string;
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly ETag: components["headers"]["ETag"];
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Commit-Position": components["headers"]["X-Commit-Position"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Projection-Lag": components["headers"]["X-Projection-Lag"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WrittenEntry"];
                };
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
    readonly unarchiveEntry: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description Performs the request only if this is the current version, else answers 412
                 * @example "3"
                 */
                readonly "If-Match"?: components["parameters"]["If-Match"];
            };
            readonly path: {
                readonly id: string;
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly ETag: components["headers"]["ETag"];
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Commit-Position": components["headers"]["X-Commit-Position"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Projection-Lag": components["headers"]["X-Projection-Lag"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WrittenEntry"];
                };
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
    readonly undeleteEntry: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description Performs the request only if this is the current version, else answers 412
                 * @example "3"
                 */
                readonly "If-Match"?: components["parameters"]["If-Match"];
            };
            readonly path: {
                readonly id: string;
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly ETag: components["headers"]["ETag"];
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Commit-Position": components["headers"]["X-Commit-Position"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Projection-Lag": components["headers"]["X-Projection-Lag"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WrittenEntry"];
                };
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
    readonly unpublishEntry: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description Performs the request only if this is the current version, else answers 412
                 * @example "3"
                 */
                readonly "If-Match"?: components["parameters"]["If-Match"];
            };
            readonly path: {
                readonly id: string;
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly ETag: components["headers"]["ETag"];
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Commit-Position": components["headers"]["X-Commit-Position"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Projection-Lag": components["headers"]["X-Projection-Lag"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WrittenEntry"];
                };
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
    readonly createEntries: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A repeated request with the same key and body gets the response of the first one for 24 hours */
                readonly "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            readonly path: {
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "entries": [
                 *         {
                 *           "data": {
                 *             "title": "First light"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                readonly "application/json": {
                    readonly entries: readonly components["schemas"]["EntryInput"][];
                };
            };
        };
        readonly responses: {
            /** @description Created */
            readonly 201: {
                headers: {
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Commit-Position": components["headers"]["X-Commit-Position"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Projection-Lag": components["headers"]["X-Projection-Lag"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created": 1,
                     *       "data": [
                     *         {
                     *           "id": "019abc00-0000-7000-8000-000000000001",
                     *           "schema_name": "article",
                     *           "slug": "text",
                     *           "status": "draft",
                     *           "data": {
                     *             "title": "First light"
                     *           },
                     *           "version": 1,
                     *           "created_at": "2026-11-20T12:00:00.000Z",
                     *           "updated_at": "2026-11-20T12:00:00.000Z",
                     *           "published_at": "2026-11-20T12:00:00.000Z",
                     *           "deleted_at": "2026-11-20T12:00:00.000Z",
                     *           "created_by": {
                     *             "kind": "user",
                     *             "id": "text"
                     *           },
                     *           "updated_by": {
                     *             "kind": "user",
                     *             "id": "text"
                     *           },
                     *           "resolved_locale": "text"
                     *         }
                     *       ]
                     *     }
                     */
                    readonly "application/json": {
                        readonly created: number;
                        readonly data: readonly components["schemas"]["WrittenEntry"][];
                    };
                };
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
    readonly readChanges: {
        readonly parameters: {
            readonly query?: {
                /** @description The value of next in the previous page: 20 digits; default: the start of the log */
                readonly after?: string;
                /** @description 1 to 1000; default 100 */
                readonly limit?: string;
            };
            readonly header?: {
                /** @description Resumes a stream after this event: the id of the last event received */
                readonly "Last-Event-ID"?: components["parameters"]["Last-Event-ID"];
                /** @description Waits up to 2 seconds until the read models have reached this position, else answers 503 */
                readonly "X-Min-Position"?: components["parameters"]["X-Min-Position"];
            };
            readonly path: {
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly "X-Schema-Revision": components["headers"]["X-Schema-Revision"];
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "position": "00000000000000000042",
                     *           "event": "after_create",
                     *           "entry_id": "019abc00-0000-7000-8000-000000000001",
                     *           "version": 1,
                     *           "at": "2026-11-20T12:00:00.000Z",
                     *           "data": {
                     *             "id": "019abc00-0000-7000-8000-000000000001"
                     *           },
                     *           "old_data": {
                     *             "id": "019abc00-0000-7000-8000-000000000001"
                     *           }
                     *         }
                     *       ],
                     *       "next": "text"
                     *     }
                     */
                    readonly "application/json": {
                        readonly data: readonly {
                            /** Format: date-time */
                            readonly at: string;
                            readonly data: ({
                                /** Format: uuid */
                                readonly id: string;
                            } & {
                                readonly [key: string]: unknown;
                            }) | null;
                            /** Format: uuid */
                            readonly entry_id: string;
                            /** @enum {string} */
                            readonly event: "after_create" | "after_update" | "after_delete";
                            readonly old_data: ({
                                /** Format: uuid */
                                readonly id: string;
                            } & {
                                readonly [key: string]: unknown;
                            }) | null;
                            /** @example 00000000000000000042 */
                            readonly position: string;
                            readonly version: number;
                        }[];
                        /** @description The value of after for the next page */
                        readonly next: string;
                    };
                    readonly "text/event-stream": string;
                };
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
    readonly pageEntries: {
        readonly parameters: {
            readonly query?: {
                /** @description A point in time in the past, RFC 3339, inclusive */
                readonly as_of?: string;
                /** @description true adds the header X-Total-Count */
                readonly count?: string;
                /** @description next_cursor of the previous page; absent or empty for the first page */
                readonly cursor?: string;
                /** @description 1 to 3; default 1 */
                readonly depth?: string;
                /** @description Names of the members of data to return; default: all */
                readonly fields?: string;
                /** @description filters[<field>]=<value>, filters[<field>][$op]=<value> */
                readonly filters?: Record<string, never>;
                /** @description 1 to 1000; a larger number counts as 20; default 20 */
                readonly limit?: string;
                /** @description Language tag such as fr or pt-BR; default: Accept-Language */
                readonly locale?: string;
                /** @description Names of relations to return as whole entries, or * */
                readonly populate?: string;
                /** @description Words that the text and rich_text fields must all contain; supports "a phrase", or, -without */
                readonly q?: string;
                /** @description Up to 5 field names; a leading - sorts descending; default -created_at */
                readonly sort?: string;
            };
            readonly header?: {
                /** @description Waits up to 2 seconds until the read models have reached this position, else answers 503 */
                readonly "X-Min-Position"?: components["parameters"]["X-Min-Position"];
            };
            readonly path: {
                readonly schema: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    readonly "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    readonly "X-Correlation-ID": components["headers"]["X-Correlation-ID"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly "X-Total-Count": components["headers"]["X-Total-Count"];
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "019abc00-0000-7000-8000-000000000001",
                     *           "schema_name": "article",
                     *           "slug": "text",
                     *           "status": "draft",
                     *           "data": {
                     *             "title": "First light"
                     *           },
                     *           "version": 1,
                     *           "created_at": "2026-11-20T12:00:00.000Z",
                     *           "updated_at": "2026-11-20T12:00:00.000Z",
                     *           "published_at": "2026-11-20T12:00:00.000Z",
                     *           "deleted_at": "2026-11-20T12:00:00.000Z",
                     *           "created_by": {
                     *             "kind": "user",
                     *             "id": "text"
                     *           },
                     *           "updated_by": {
                     *             "kind": "user",
                     *             "id": "text"
                     *           },
                     *           "resolved_locale": "text"
                     *         }
                     *       ],
                     *       "next_cursor": "text"
                     *     }
                     */
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["Entry"][];
                        /** @description Empty on the last page */
                        readonly next_cursor: string;
                    };
                };
            };
            readonly 500: components["responses"]["500-internal"];
        };
    };
}

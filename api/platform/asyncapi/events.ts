import type { TSchema } from '@sinclair/typebox';
import type { Category } from '../../../domain/stream.ts';
import {
  COMMENT_EVENTS,
  CONTENT_TYPE_EVENTS,
  ENTRY_EVENTS,
  MODELLING_EVENTS,
  RELEASE_EVENTS,
} from './content-events.ts';
import {
  ACCESS_RULE_EVENTS,
  ADMIN_TOKEN_EVENTS,
  API_KEY_EVENTS,
  TENANT_EVENTS,
  USER_EVENTS,
} from './identity-events.ts';
import { AUDIT_EVENTS, SETTINGS_EVENTS, WEBHOOK_EVENTS } from './platform-events.ts';

/** Schemas of the data of all event types, by the category of their streams. */
export const EVENTS: { readonly [category in Category]?: Readonly<Record<string, TSchema>> } = {
  entry: ENTRY_EVENTS,
  content_type: CONTENT_TYPE_EVENTS,
  comment: COMMENT_EVENTS,
  release: RELEASE_EVENTS,
  user: USER_EVENTS,
  tenant: TENANT_EVENTS,
  api_key: API_KEY_EVENTS,
  admin_token: ADMIN_TOKEN_EVENTS,
  access_rule: ACCESS_RULE_EVENTS,
  webhook: WEBHOOK_EVENTS,
  audit: AUDIT_EVENTS,
  settings: { ...SETTINGS_EVENTS, ...MODELLING_EVENTS },
};

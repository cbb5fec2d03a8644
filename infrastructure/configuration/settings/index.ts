import type { Setting } from '../setting.ts';
import { core } from './core.ts';
import { identity } from './identity.ts';
import { license } from './license.ts';
import { magicLink } from './magic-link.ts';
import { mail } from './mail.ts';
import { stores } from './stores.ts';

/** Every setting, declared once. */
export const SETTINGS = { ...core, ...stores, ...identity, ...license, ...magicLink, ...mail } as const;

type ValueOf<S> = S extends Setting<infer T> ? T : never;

/** The parsed values of all settings. */
export type Settings = { readonly [K in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[K]> };

import type { Setting } from '../setting.ts';
import { core } from './core.ts';
import { identity } from './identity.ts';
import { license } from './license.ts';
import { magicLink } from './magic-link.ts';
import { mail } from './mail.ts';
import { stores } from './stores.ts';

/** Every setting there is, one declaration each. */
export const SETTINGS = { ...core, ...stores, ...identity, ...license, ...magicLink, ...mail } as const;

type ValueOf<S> = S extends Setting<infer T> ? T : never;

/** The settings as the code sees them. */
export type Settings = { readonly [K in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[K]> };

import { createRequire } from 'node:module';
import type * as LanguageCommon from '@zxcvbn-ts/language-common';

/** So common that digits and signs around them make nothing better. */
const VERY_COMMON = 1_000;

/**
 * Whether everybody uses a password (`PASSWORD_CHECK_COMMON`): it is on the list in any case, or one of its first thousand with digits and signs in
 * front of it and behind it. The list is loaded when it is asked for first: it takes some 30 ms and 5 MB.
 */
export function createCommonPasswords(): (password: string) => boolean {
  let lists: { readonly all: ReadonlySet<string>; readonly worst: ReadonlySet<string> } | undefined;
  return (password) => {
    lists ??= load();
    const lower = password.toLowerCase();
    const core = lower.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
    return lists.all.has(lower) || lists.worst.has(core);
  };
}

function load() {
  const { dictionary } = createRequire(import.meta.url)('@zxcvbn-ts/language-common') as typeof LanguageCommon;
  const passwords = dictionary['passwords-common'];
  return { all: new Set(passwords), worst: new Set(passwords.slice(0, VERY_COMMON)) };
}

import type * as LanguageCommon from '@zxcvbn-ts/language-common';
import { createRequire } from 'node:module';

/** Number of passwords that stay weak with digits and signs around them. */
const VERY_COMMON = 1_000;

/**
 * Creates the check for common passwords (setting `PASSWORD_CHECK_COMMON`). A password is common when it is on the
 * list, ignoring case, or is one of the first thousand with digits and signs before or after it. The first call loads
 * the list, which takes about 30 ms and 5 MB.
 */
export function createCommonPasswords(): (password: string) => boolean {
  let lists: { readonly all: ReadonlySet<string>; readonly veryCommon: ReadonlySet<string> } | undefined;
  return (password) => {
    lists ??= load();
    const lower = password.toLowerCase();
    const core = lower.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
    return lists.all.has(lower) || lists.veryCommon.has(core);
  };
}

function load() {
  const { dictionary } = createRequire(import.meta.url)('@zxcvbn-ts/language-common') as typeof LanguageCommon;
  const passwords = dictionary['passwords-common'];
  return { all: new Set(passwords), veryCommon: new Set(passwords.slice(0, VERY_COMMON)) };
}

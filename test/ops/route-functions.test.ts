import { RuleTester } from 'eslint';
import { parser } from 'typescript-eslint';
import { routeFunctions } from '../../ops/lint/route-functions.js';

RuleTester.describe = describe;
RuleTester.it = it;

const filename = 'api/admin/platform/web-hook-routes.ts';

new RuleTester({ languageOptions: { parser } }).run('the lint rule for the functions of route files', routeFunctions, {
  valid: [
    { filename, code: 'export function webHookRoutes(dependencies: WebHookRouteDependencies) {}' },
    { filename, code: 'export function webHookRoutes(input: Input, dependencies: FamilyRouteDependencies) {}' },
    { filename, code: 'export function webHookRoutes() {}' },
  ],
  invalid: [
    {
      filename,
      code: 'export function hookRoutes(dependencies: HookRouteDependencies) {}',
      errors: [{ messageId: 'name' }],
    },
    { filename, code: 'export function response() {}', errors: [{ messageId: 'name' }] },
    {
      filename,
      code: 'export function webHookRoutes({ vault }: WebHookRouteDependencies) {}',
      errors: [{ messageId: 'parameter' }],
    },
    {
      filename,
      code: 'export function webHookRoutes(dependencies: { readonly vault: Vault }) {}',
      errors: [{ messageId: 'parameter' }],
    },
    { filename, code: 'export function webHookRoutes(vault: Vault) {}', errors: [{ messageId: 'parameter' }] },
  ],
});

import { existsSync } from 'node:fs';
import { type BrowserContext, chromium } from 'playwright-core';
import { recordNotRun } from '../support/adapters.ts';
import { useDirectory } from '../support/directory.ts';

const PLACES = [
  process.env['TEST_CHROMIUM'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * A page with its errors: console errors (such as violations of its content security policy) and requests to other
 * origins.
 */
export type OpenedPage = {
  readonly page: Awaited<ReturnType<BrowserContext['newPage']>>;
  readonly errors: readonly string[];
};

/**
 * Provides a headless Chromium with an empty profile for the enclosing `describe`. Without Chromium, skips the tests;
 * the end of the run lists them.
 */
export function useBrowser(): { open(url: string): Promise<OpenedPage> } {
  let context: BrowserContext | undefined;
  const profile = useDirectory();
  before(async function () {
    this.timeout(60_000);
    const executablePath = PLACES.find((place) => place !== '' && existsSync(place));
    if (executablePath === undefined) {
      await recordNotRun(
        this.test?.parent?.fullTitle() ?? 'browser',
        'Chromium is not installed (set TEST_CHROMIUM to its path)',
      );
      this.skip();
    }
    context = await chromium.launchPersistentContext(profile(), { executablePath, headless: true, args: ARGUMENTS });
  });
  after(() => context?.close());
  return {
    async open(url) {
      if (!context) throw new Error('the browser is open inside tests and hooks only');
      const page = await context.newPage();
      const errors: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') errors.push(message.text());
      });
      page.on('pageerror', (error) => errors.push(String(error)));
      page.on('request', (request) => {
        const target = new URL(request.url());
        if (target.protocol !== 'data:' && target.origin !== new URL(url).origin)
          errors.push(`a request to ${target.origin}`);
      });
      await page.goto(url);
      return { page, errors };
    },
  };
}

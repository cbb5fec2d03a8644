import { expect } from 'chai';
import { OWNER } from '../support/owner.ts';
import { useService } from '../support/service.ts';
import { type OpenedPage, useBrowser } from './browser.ts';

describe('the API reference at /docs', () => {
  const service = useService();
  const adminUrl = () => service.service().adminUrl;
  const contentUrl = () => service.service().contentUrl;

  before(async () => {
    const fields = [{ name: 'title', field_type: 'text' }];
    for (const name of ['article', 'secret'])
      expect((await service.owner('POST', '/api/admin/schemas', { name, fields })).status).to.equal(200);
  });

  describe('in a browser', () => {
    const browser = useBrowser();

    async function show(
      { page }: OpenedPage,
      { document, kind, credential }: { document?: string; kind?: string; credential?: string },
    ): Promise<void> {
      if (kind !== undefined) await page.selectOption('#kind', { label: kind });
      if (credential !== undefined) await page.fill('#credential', credential);
      if (document !== undefined) await page.selectOption('#document', { label: document });
      await page.click('button[type=submit]');
    }
    /** Opens the section where the list is long. */
    async function operation({ page }: OpenedPage, section: string, path: string): Promise<void> {
      const heading = page.locator(`#operations-tag-${section}`);
      await heading.waitFor({ timeout: 30_000 });
      if ((await heading.getAttribute('data-is-open')) === 'false') await heading.click();
      await page.locator(`[data-path="${path}"]`).first().waitFor({ timeout: 30_000 });
    }

    it('shows the Content API to an API key, with the content types that the key may read', async function () {
      this.timeout(60_000);
      const { raw_key } = (
        await service.owner('POST', '/api/admin/api-keys', {
          name: 'docs',
          scopes: ['schemas:read', 'content:read'],
          schemas: ['article'],
          roles: ['editor'],
        })
      ).json<{ raw_key: string }>();
      const opened = await browser.open(`${contentUrl()}/docs`);
      expect(await opened.page.textContent('#status')).to.contain('needs an API key');
      await show(opened, { kind: 'API key', credential: raw_key });
      await operation(opened, 'article', '/api/v1/content/article/{id}');
      expect(await opened.page.locator('[data-path^="/api/v1/content/secret"]').count()).to.equal(0);
      expect(
        await opened.page.evaluate(
          'JSON.stringify([Object.keys(localStorage), Object.keys(sessionStorage), document.cookie])',
        ),
      ).to.equal('[[],[],""]');
      expect(opened.errors).to.deep.equal([]);
    });

    it('sends requests with the entered credential', async function () {
      this.timeout(60_000);
      const { token } = (await service.admin('POST', '/api/admin/auth/login', OWNER)).json<{ token: string }>();
      const opened = await browser.open(`${contentUrl()}/docs`);
      await show(opened, { kind: 'Bearer token', credential: token });
      await operation(opened, 'content', '/api/v1/schemas');
      const block = opened.page.locator('#operations-content-listSchemas');
      await block.locator('.opblock-summary-control').first().click();
      await block.getByRole('button', { name: 'Try it out' }).click();
      const answered = opened.page.waitForResponse((response) => response.url().endsWith('/api/v1/schemas'));
      await block.getByRole('button', { name: 'Execute' }).click();
      expect((await answered).status()).to.equal(200);
      expect(opened.errors).to.deep.equal([]);
    });

    it('shows both OpenAPI documents on the Admin API, with a token and with a console session', async function () {
      this.timeout(60_000);
      const opened = await browser.open(`${adminUrl()}/docs`);
      const { token } = (await service.admin('POST', '/api/admin/auth/login', OWNER)).json<{ token: string }>();
      await show(opened, { kind: 'Bearer token', credential: token, document: 'Admin API' });
      await operation(opened, 'identity', '/api/admin/users');
      await show(opened, { document: 'Content API' });
      await operation(opened, 'article', '/api/v1/content/article');
      await opened.page.evaluate(
        `fetch('/api/admin/auth/login', { method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(JSON.stringify(OWNER))} })`,
      );
      const signedIn = await browser.open(`${adminUrl()}/docs`);
      await show(signedIn, { document: 'Admin API' });
      await operation(signedIn, 'identity', '/api/admin/users');
      expect([...opened.errors, ...signedIn.errors]).to.deep.equal([]);
    });

    it('explains what is missing when the credential is not sufficient', async () => {
      const opened = await browser.open(`${contentUrl()}/docs`);
      await show(opened, { kind: 'API key', credential: 'svc_nothing' });
      await opened.page.locator('#status.refused').waitFor();
      expect(await opened.page.textContent('#status')).to.contain('needs a credential');
    });
  });

  it('serves its own files with a strict content security policy and an entity tag', async () => {
    const page = await service.content('GET', '/docs');
    expect(page.headers['content-type']).to.equal('text/html; charset=utf-8');
    const files = [...page.text.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, file = '']) => `/${file}`);
    expect(files).to.have.length(4);
    for (const call of [service.content, service.admin]) {
      for (const file of ['/docs', ...files]) {
        const first = await call('GET', file);
        expect(first.status, file).to.equal(200);
        expect(first.headers['content-security-policy'], file)
          .to.contain("default-src 'none'")
          .and.not.to.contain('unsafe');
        const again = await call('GET', file, undefined, { 'if-none-match': first.headers['etag'] ?? '' });
        expect([again.status, again.text], file).to.deep.equal([304, '']);
      }
    }
    expect((await service.content('GET', '/docs/package.json')).status).to.equal(404);
    expect((await service.content('GET', '/docs/..%2fpackage.json')).status).to.equal(404);
    expect((await service.content('GET', '/healthz')).headers['content-security-policy']).to.equal(
      "default-src 'none';frame-ancestors 'none'",
    );
  });
});

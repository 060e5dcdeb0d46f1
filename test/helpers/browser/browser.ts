import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { findProgram } from '../setup/debian-program.ts';
import { chromiumProgram } from './install-chromium.ts';
import { watch } from './watch.ts';

/** How a page is looked at. */
export interface View {
  /** 1280 x 800, or 375 x 812. */
  readonly size?: 'desktop' | 'phone';
  readonly scheme?: 'light' | 'dark';
  readonly reducedMotion?: boolean;
  /** Enlarges everything, as a browser's zoom does: 2 for 200 %. */
  readonly zoom?: number;
}

const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 375, height: 812 } };

/** A browser for the tests of a file, with a new profile for each page. */
export interface TestBrowser {
  /** An empty page; what it does is watched from the start, for `checkPage`. */
  readonly newPage: (view?: View) => Promise<Page>;
}

/** Starts Chromium before the tests of a file, and stops it after them. */
export function useBrowser(): TestBrowser {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: findProgram(chromiumProgram()),
      // Its sandbox refuses to work for root.
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    });
  });
  afterAll(() => browser.close());
  return {
    newPage: async ({ size = 'desktop', scheme = 'light', reducedMotion = false, zoom = 1 } = {}) => {
      const { width, height } = SIZES[size];
      const context = await browser.newContext({
        viewport: { width: Math.round(width / zoom), height: Math.round(height / zoom) },
        deviceScaleFactor: zoom,
        colorScheme: scheme,
        reducedMotion: reducedMotion ? 'reduce' : 'no-preference',
        hasTouch: size === 'phone',
        locale: 'en-GB',
        timezoneId: 'UTC',
      });
      context.setDefaultTimeout(15_000);
      const page = await context.newPage();
      await watch(page);
      return page;
    },
  };
}
